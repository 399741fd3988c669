"""Gather the calls of Pinocchio in a script to items: what one call of ours computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..kinematics.fused import JACOBIANS, MOTIONS
from .dependence import Dependence
from .flow import OUTSIDE, RANDOM, Call, Definition, Flow, Loop, Place, reads_data
from .known import ATTRIBUTES, KNOWN, Known

PASSES = {  # fill data for functions that get results from it
    *("forwardKinematics", "framesForwardKinematics", "computeJointJacobians", "updateGlobalPlacements"),
    *("computeJointJacobiansTimeVariation", "computeForwardKinematicsDerivatives"),
}
OF_FRAMES = "framesForwardKinematics", "updateFramePlacements"  # fill the placements of all frames
FIELDS = {quantity: name for name, quantity in (MOTIONS | JACOBIANS).items()} | {
    "joint_jacobian": "jacobians",
    **{
        name: name
        for name in (
            *("joint_placements", "center_of_mass", "center_of_mass_jacobian", "centroidal_map"),
            *("centroidal_map_dot", "centroidal_momentum", "centroidal_momentum_rate", "centroidal_inertia"),
        )
    },
}  # arguments of Kinematics that request a quantity
JOINTS = {"getVelocity", "getAcceleration", "getClassicalAcceleration", "getJointJacobian"} | {
    *("RobotWrapper.placement", "RobotWrapper.velocity", "RobotWrapper.acceleration", "computeJointJacobian"),
    *("RobotWrapper.classicalAcceleration", "RobotWrapper.computeJointJacobian"),
    *("RobotWrapper.getJointJacobian", "getJointJacobianTimeVariation"),
}  # take a joint's number where others take a frame's


@dataclass(eq=False)
class Item:
    """What one call of ours computes.

    Attributes
    ----------
    known : Known
    calls : list of Call
        Of Pinocchio, in the order of the script.
    state : list of tuple of ast.expr and list of Place
        Arrays that are its arguments, with what they read.
    at : Definition
        Where the state is read.
    others : list of ast.expr
        Further arguments of Pinocchio's call: a frame, a reference.
    parts : list of Item
        Of an item that replaces several.
    is_joint : bool
        Whether the first of the others is a joint, and not a frame.
    """

    known: Known
    calls: list[Call]
    state: list[tuple[ast.expr, list[Place]]]
    at: Definition
    others: list[ast.expr] = field(default_factory=list)
    parts: list[Item] = field(default_factory=list)
    is_joint: bool = False

    @property
    def name(self) -> str:
        """Name of our function."""
        return self.known.ours

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Loops around the state."""
        return self.at.loops

    @property
    def reads(self) -> list[Place]:
        """Everything that the state reads."""
        if self.name == "random_configuration":
            return [RANDOM]
        return [read for _, given in self.state for read in given]

    @property
    def results(self) -> list[Place]:
        """Places that stand for what its calls return."""
        return [one.result for one in self.calls]


def items_of(flow: Flow, dependence: Dependence) -> list[Item]:
    """Return the items of a script, each with its calls; calls without a counterpart have none."""
    items: list[Item] = []
    waiting: list[Call] = []  # passes whose data nothing reads before the next pass of the same state
    calls = [one for one in flow.calls if one.name != "linalg"]
    filled: dict[Place, Call] = {}
    for number, call in enumerate(calls):
        known = KNOWN.get(call.name)
        if known is None or not known.ours:
            continue
        count = len(items)
        fills = is_fill(call)
        source = filled.get(call.owner)
        if call.name == "updateFramePlacements" and source is not None:
            items += _of_pass(flow, call, calls[number + 1 :], [source, call])
        elif known.quantity and reads_data(call.name, len(call.arguments)):
            items.append(_from_data(known, call, source))
        elif call.name.rpartition(".")[2] in PASSES:
            read = list(_of_pass(flow, call, calls[number + 1 :], [call]))
            is_repeated = _is_repeated(call, calls[number + 1 :], read)
            waiting += [call] if is_repeated else []
            items += [] if is_repeated else read
        else:
            items.append(_item(known, [call], call, call))
        if waiting and len(items) > count and call.owner == waiting[-1].owner:
            items[count].calls[:0] = waiting
            waiting = []
        if fills:
            filled[call.owner] = call
    return items


def _from_data(known: Known, call: Call, source: Call | None) -> Item:
    """Return the item of a function that reads data, with the state of the call that filled it."""
    if source is not None:
        return _item(known, [source, call], source, call)
    others = [node for node, _ in arguments_of(call)]
    state: list[tuple[ast.expr, list[Place]]] = [(ast.Name("q"), [call.owner or OUTSIDE])]
    return Item(known, [call], state, call.definition, others, is_joint=call.name in JOINTS)


def _is_repeated(call: Call, later: list[Call], read: list[Item]) -> bool:
    """Return whether nothing reads what a pass has filled before another call fills it for the same state."""
    following = next((one for one in later if one.owner == call.owner), None)
    if following is None or not read or read[0].known is not KNOWN[call.name]:
        return False
    if following.name == "updateFramePlacements":  # which fills them again
        return call.name.rpartition(".")[2] in OF_FRAMES
    first, second = arguments_of(call)[:1], arguments_of(following)[:1]
    return is_fill(following) and bool(first) and [one for _, one in first] == [one for _, one in second]


def _of_pass(flow: Flow, call: Call, later: list[Call], calls: list[Call]) -> Iterator[Item]:
    """Yield what is read from data that a pass has filled; calls that get results are items of their own."""
    name = call.name.rpartition(".")[2]
    filled = ".oMf" if name in OF_FRAMES else ".oMi"
    end = len(flow.definitions) + 1
    for one in later:
        again = one.name.rpartition(".")[2] in OF_FRAMES if filled == ".oMf" else is_fill(one)
        if one.owner == call.owner and again:
            end = one.definition.number
            break
    own = {
        place[len(call.owner) :][:2]: None
        for number, place in flow.reads
        if call.definition.number < number <= end
        if len(place) > len(call.owner) and place[: len(call.owner)] == call.owner
    }
    getters = {
        KNOWN[one.name].ours
        for one in later
        if one.owner == call.owner and one.definition.number < end and one.name in KNOWN
        if not is_fill(one)
    }
    asked = 0
    for attribute, *index in own:
        if attribute == filled:
            item = _item(ATTRIBUTES[attribute[1:]], calls, calls[0], calls[0])
            if index:  # the placement of one frame or joint
                item.known = ATTRIBUTES["oMf"]
                item.others = [ast.parse(index[0][1:-1], mode="eval").body]
                item.is_joint = attribute == ".oMi"
            asked += 1
            yield item
    if not asked and (not getters or name == "updateFramePlacements"):
        yield _item(KNOWN[call.name], calls, calls[0], calls[0])


def is_fill(call: Call) -> bool:
    """Return whether a call fills data for a state, and does not only read it."""
    return bool(call.owner) and not reads_data(call.name, len(call.arguments))


def _item(known: Known, calls: list[Call], source: Call, last: Call) -> Item:
    """Return an item with the state of one call and the other arguments of the last one."""
    of_source = arguments_of(source)
    count = _vectors(source, len(of_source))
    others = [node for node, _ in arguments_of(last)[0 if last is not source else count :]]
    return Item(known, calls, of_source[:count], source.definition, others, is_joint=last.name in JOINTS)


def arguments_of(call: Call) -> list[tuple[ast.expr, list[Place]]]:
    """Return the arguments of a call after the model and data, in their order."""
    nodes = [*call.node.args, *(one.value for one in call.node.keywords)]
    pairs = zip(nodes, call.arguments, strict=True)
    given = [(node, reads) for node, (name, reads) in pairs if name not in ("model", "data")]
    if call.name in ("neutral", "randomConfiguration"):
        return []
    known = KNOWN.get(call.name)
    if call.name.startswith("RobotWrapper.") or known is None or not known.quantity:
        return given
    leading = 2 if call.owner else 1
    return given[max(0, leading - (len(nodes) - len(given))) :]


def _vectors(call: Call, given: int) -> int:
    """Return how many arguments are arrays; a frame or a joint follows them."""
    known = KNOWN.get(call.name)
    quantity = known.quantity if known else None
    if quantity is None:
        return given
    if call.name.rpartition(".")[2] in PASSES:
        return given
    required = [one for one in quantity.inputs if one.name in quantity.arguments]
    return min(given, len(required))


def same_state(dependence: Dependence, one: Item, other: Item) -> bool:
    """Return whether two items are computed of the same configuration, in the same loops."""
    if one.loops != other.loops or not one.state or not other.state:
        return False
    (first, reads), (second, others) = one.state[0], other.state[0]
    if ast.unparse(first) != ast.unparse(second) or reads != others:
        return False
    return all(dependence.reaching(one.at, read) is dependence.reaching(other.at, read) for read in reads)
