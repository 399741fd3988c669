"""Define the tasks of inverse kinematics, and compile them for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.messages import received
from .._util.validation import as_real
from ..exceptions import DtypeError, ShapeError
from ..kinematics.masses import require_mass
from ..kinematics.plans import Item, View, items_of_masses
from ..model.frames import Frame, frame_of, support_of
from ..model.model import Model
from ._searches import TASKS
from .weights import weights_of

NO_TARGET: Any = None


@dataclass(frozen=True, eq=False)
class FrameTask:
    """Bring a frame to a pose, or to a position.

    Parameters
    ----------
    frame : str, int or Frame
        As those of `treefactor.frame_placement`.
    target : array_like, shape (..., 3, 4) or (..., 4, 4); or (..., 3), optional
        Poses, or positions (m) in the axes of the base; None: passed in each call. A (3, 3) array is three
        positions, not a rotation.
    position_cost, orientation_cost : float or array_like, shape (3,)
        Costs of the squared errors, 1/m^2 and 1/rad^2, along the axes of the frame; 0 leaves errors out.
        Positions have no orientation cost.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> tf.control.FrameTask("tool", np.eye(3, 4), orientation_cost=0.0).orientation_cost
    array([0., 0., 0.])
    """

    frame: Any
    target: Any = NO_TARGET
    position_cost: Any = 1.0
    orientation_cost: Any = 1.0

    def __post_init__(self):
        for name in ("position_cost", "orientation_cost"):
            object.__setattr__(self, name, weights_of(getattr(self, name), 3, name))
        if not (self.position_cost.any() or self.orientation_cost.any()):
            raise ValueError(
                f"position_cost and orientation_cost of frame {self.frame!r} are both 0: one must be positive"
            )


@dataclass(frozen=True, eq=False)
class RelativeFrameTask(FrameTask):
    """Bring a frame to a pose, or to a position, relative to another frame, such as one hand to the other.

    Parameters
    ----------
    frame, root : str, int or Frame
        The pose of ``frame`` in the axes of ``root`` is compared with the target.
    target, position_cost, orientation_cost
        As those of `FrameTask`, in the axes of ``root``.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.control.RelativeFrameTask("left_hand", root="right_hand", target=[0.0, 0.2, 0.0]).root
    'right_hand'
    """

    root: Any = -1


@dataclass(frozen=True, eq=False)
class ComTask:
    """Bring the centre of mass of the model to a point.

    Parameters
    ----------
    target : array_like, shape (..., 3), optional
        m, in the axes of the base; None: passed in each call.
    cost : float or array_like, shape (3,)
        Of the squared error along each axis of the base, 1/m^2; 0 leaves an axis out.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.control.ComTask([0.0, 0.0, 0.8], cost=[1.0, 1.0, 0.0]).cost
    array([1., 1., 0.])
    """

    target: Any = NO_TARGET
    cost: Any = 1.0

    def __post_init__(self):
        object.__setattr__(self, "cost", weights_of(self.cost, 3, "cost"))
        if not self.cost.any():
            raise ValueError("cost of the centre of mass is 0: leave the task out, or pass a positive cost")


@dataclass(frozen=True, eq=False)
class PostureTask:
    """Stay near a configuration, as far as the other tasks leave freedoms for it.

    Parameters
    ----------
    q : array_like, shape (..., nq)
    cost : float or array_like, shape (nv,)
        How early the posture counts: a freedom moves 0.3 cost / (cost + d) of its way in an iteration, with
        the damping d of the tasks, which falls with their squared error.

    Notes
    -----
    Thread-compatible.

    The motion toward q lies in the null space of the other tasks, so that it costs them nothing in the end; a
    target counts as solved without it.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.control.PostureTask([0.0, 0.5]).cost
    array(0.001)
    """

    q: Any
    cost: Any = 1e-3

    def __post_init__(self):
        cost = as_real(self.cost, "cost")
        object.__setattr__(self, "cost", cost)
        if cost.ndim > 1 or not (cost >= 0.0).all() or not (cost < np.inf).all() or not cost.any():
            raise ValueError(
                f"cost of the posture must be positive, one number or one for each freedom, got {cost}"
            )


class CompiledTasks:
    """Items of the request that tasks read, and the structs of the kernels.

    Parameters
    ----------
    model : Model
    tasks : list of FrameTask and ComTask
    points : tuple of bool
        Of every task, whether its targets are positions.
    lower, upper : ndarray, shape (nq,)

    Attributes
    ----------
    items : list of Item
    structs : list of dict
        Without columns, which follow from the movable freedoms.
    supports : list of tuple of ndarray
        Columns of v of the Jacobian of every task, and of that of its root.
    first, size : list of int, int
        First number of the target of every task, and the number of all.
    """

    def __init__(
        self, model: Model, tasks: list, points: tuple[bool, ...], lower: np.ndarray, upper: np.ndarray
    ):
        self.items: list[Item] = []
        self.structs: list[dict] = []
        self.supports: list[tuple[np.ndarray, np.ndarray]] = []
        self.first: list[int] = []
        self.size = 0
        for task, is_point in zip(tasks, points, strict=True):
            struct = {
                "root_place": 0,
                "root_jacobian": 0,
                "origin": (0.0, 0.0, 0.0),
                "reach": np.inf,
                "target": self.size,
            }
            own = (
                self._of_masses(model, task)
                if isinstance(task, ComTask)
                else self._of_frames(model, task, is_point, lower, upper)
            )
            self.structs.append(struct | own)
            self.first.append(self.size)
            self.size += 3 if isinstance(task, ComTask) else 12

    def _add(self, *items: Item) -> list[int]:
        """Append items of the request; return their numbers."""
        first = len(self.items)
        self.items += items
        return list(range(first, first + len(items)))

    def _of_masses(self, model: Model, task: ComTask) -> dict:
        """Return the struct of a task of the centre of mass."""
        require_mass(model, -1)
        place, jacobian = self._add(
            items_of_masses(model, "center_of_mass", -1)[0],
            items_of_masses(model, "center_of_mass_jacobian", -1)[0],
        )
        self.supports.append((np.arange(model.nv), np.empty(0, np.intp)))
        weight = (*np.sqrt(task.cost), 0.0, 0.0, 0.0)
        return {
            "kind": TASKS["com"],
            "place": place,
            "jacobian": jacobian,
            "weight": weight,
            "position": 1,
            "angle": 0,
            "coupled": 0,
        }

    def _of_frames(
        self, model: Model, task: FrameTask, point: bool, lower: np.ndarray, upper: np.ndarray
    ) -> dict:
        """Return the struct of a task of a frame, or of two; of a point, without rows of angles."""
        relative = isinstance(task, RelativeFrameTask)
        frames = [frame_of(model, task.frame)]
        if isinstance(task, RelativeFrameTask):  # not `relative`, for the types
            frames.append(frame_of(model, task.root, argument="root"))
        place, jacobian = self._add(*_items(frames[0]))
        struct = {"kind": TASKS["frame"], "place": place, "jacobian": jacobian}
        if relative:
            struct["kind"] = TASKS["relative_frame"]
            struct["root_place"], struct["root_jacobian"] = self._add(*_items(frames[1]))
        empty = np.empty(0, np.intp)
        self.supports.append(
            (support_of(model, frames[0]), support_of(model, frames[1]) if relative else empty)
        )
        weight = np.sqrt([*task.position_cost, *([0.0, 0.0, 0.0] if point else task.orientation_cost)])
        if not weight.any():
            raise ValueError(f"targets of frame {task.frame!r} are positions, and its position_cost is 0")
        struct["weight"] = tuple(weight)
        struct["position"], struct["angle"] = int(weight[:3].any()), int(weight[3:].any())
        struct["coupled"] = int(weight.all())
        if not relative and weight[:3].all():
            struct["origin"], struct["reach"] = reach_of(model, frames[0], lower, upper)
        return struct


def _items(frame: Frame) -> tuple[Item, Item]:
    """Return the items of the placement and of the Jacobian of a frame."""
    view = (View(frame),)
    return Item("frame_placement", view), Item("frame_jacobian", view, layout="packed")


def reach_of(model: Model, frame: Frame, lower: np.ndarray, upper: np.ndarray) -> tuple[tuple, float]:
    """Return a point of the base, and a length (m) that the frame is never farther away from it.

    The point is the origin of the first joint; the length is that of all links, and of what joints slide
    within their limits.
    """
    path = []
    number = frame.joint
    while number >= 0:
        path.append(number)
        number = model.joints[number].parent
    if not path:
        return tuple(frame.p), 0.0
    reach = float(np.linalg.norm(frame.p))
    for number in path:
        joint = model.joints[number]
        if number != path[-1]:
            reach += float(np.linalg.norm(joint.p))
        if joint.kind in ("freeflyer", "planar", "translation"):
            return tuple(model.joints[path[-1]].p), np.inf
        if joint.kind in ("prismatic", "helical"):
            at, circle = (
                model.idx_q[number],
                joint.mimic and model.joints[joint.mimic.leader].kind == "continuous",
            )
            travel = np.inf if circle else max(abs(lower[at]), abs(upper[at]))
            if joint.mimic:
                travel = abs(joint.mimic.ratio) * travel + abs(joint.mimic.offset)
            reach += float(travel * (abs(joint.pitch) if joint.kind == "helical" else 1.0))
    return tuple(model.joints[path[-1]].p), reach


def require_tasks(tasks) -> list:
    """Return a list of tasks; raise DtypeError if one has another type."""
    if isinstance(tasks, FrameTask | ComTask | PostureTask):
        raise DtypeError(f"tasks must be a list of tasks, got {received(tasks)}: pass [task]")
    tasks = list(tasks)
    for task in tasks:
        if not isinstance(task, FrameTask | ComTask | PostureTask):
            raise DtypeError(
                f"a task must be a FrameTask, RelativeFrameTask, ComTask or PostureTask, got {received(task)}"
            )
    return tasks


def targets_of(task, values, name: str = "targets") -> np.ndarray:
    """Return the targets of a task as an array of poses (..., 3, 4), or of points (..., 3)."""
    targets = as_real(values, name)
    if isinstance(task, ComTask):
        if targets.shape[-1:] != (3,):
            raise ShapeError(
                f"{name} of the centre of mass must have shape (..., 3), got {targets.shape}", targets.shape
            )
        return targets
    if targets.shape[-2:] in ((3, 4), (4, 4)):
        return targets[..., :3, :]
    if targets.shape[-1:] != (3,):
        raise ShapeError(
            f"{name} must be poses (..., 3, 4) or (..., 4, 4), or positions (..., 3), got {targets.shape}",
            targets.shape,
            ("...", 3, 4),
        )
    poses = np.zeros((*targets.shape[:-1], 3, 4))
    poses[..., :3] = _EYE
    poses[..., 3] = targets
    return poses


_EYE = np.eye(3)
