"""Tables of the pages *From MuJoCo* and *From Drake, PyBullet*: calls of an engine, and ours.

A test runs both sides of every row on an arm with a fixed base, where the conventions differ least.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple

from exhibits import Html, codes, faster, grid, measured, prose, spread
from performance import ROBOTS, problem

from treefactor.report import duration


class Row(NamedTuple):
    """What an engine has, and what computes the same here.

    Attributes
    ----------
    theirs : str
        Names in the engine, separated by commas.
    ours : str
        Our call.
    run : str
        The engine's result in our order, as an expression: what the test compares with our call.
    note : str
        Plain text with code between backticks.
    timed : str
        Name of the figures, if there are any.
    """

    theirs: str
    ours: str
    run: str
    note: str = ""
    timed: str = ""


MUJOCO = {
    "Dynamics": (
        Row(
            "mj_crb, mj_fullM",
            "tf.crba(robot, q)",
            "mujoco_.mass_matrix(body, data.qpos)",
            '`layout="packed"` has the entries of `MjData.M`',
            "crba",
        ),
        Row("mj_mulM", "tf.h_times(robot, q, x)", "filled(nv, lambda y: mj.mj_mulM(model, data, y, x))"),
        Row(
            "mj_factorM, mj_solveM",
            "tf.solve(H, robot.tree, x)",
            "filled((1, nv), lambda y: mj.mj_solveM(model, data, y, x[None]))[0]",
            "`mujoco_.Accelerator` reads `MjData.M` in place",
        ),
        Row("MjData.qfrc_bias", "tf.bias(robot, q, v)", "data.qfrc_bias"),
        Row(
            "mj_inverse, MjData.qfrc_inverse",
            "tf.rnea(robot, q, v, a)",
            "mujoco_.inverse_dynamics(body, data.qpos, data.qvel, a)",
            "without constraints and passive forces; *a* is `qacc`. `mj_rne` leaves armature out",
        ),
        Row(
            "mj_forward, MjData.qacc_smooth",
            "tf.forward_dynamics(robot, q, v, tau)",
            "data.qacc_smooth",
            "without contacts and other constraints, as `qacc_smooth` is; or `tf.aba`",
            "forward",
        ),
        Row("mj_energyPos, MjData.energy", "tf.potential_energy(robot, q)", "data.energy[0]"),
        Row("mj_energyVel, MjData.energy", "tf.kinetic_energy(robot, q, v)", "data.energy[1]"),
    ),
    "Kinematics": (
        Row(
            "mj_kinematics, MjData.xpos, MjData.xmat",
            'tf.frame_placement(robot, q, "hand")',
            "np.c_[data.xmat[hand].reshape(3, 3), data.xpos[hand]]",
            "`tf.joint_placements` has those of all joints",
        ),
        Row(
            "mj_jacBody, mj_jacSite",
            'tf.frame_jacobian(robot, q, "hand", "LOCAL_WORLD_ALIGNED")',
            "filled((6, nv), lambda J: mj.mj_jacBody(model, data, J[:3], J[3:], hand))",
        ),
        Row(
            "mj_jacDot",
            'tf.frame_jacobian_dot(robot, q, v, "hand", "LOCAL_WORLD_ALIGNED")',
            "filled((6, nv), lambda J: mj.mj_jacDot(model, data, J[:3], J[3:], data.xpos[hand], hand))",
        ),
        Row(
            "mj_objectVelocity",
            'tf.frame_velocity(robot, q, v, "hand", "LOCAL_WORLD_ALIGNED")',
            "np.roll(filled(6, lambda y: mj.mj_objectVelocity(model, data, XBODY, hand, y, 0)), 3)",
            'MuJoCo\'s is angular first; "LOCAL" is `flg_local=1`',
        ),
        Row(
            "mj_objectAcceleration",
            'tf.frame_acceleration(robot, q, v, a, "hand", "LOCAL_WORLD_ALIGNED", classical=True)',
            "np.roll(filled(6, lambda y: mj.mj_objectAcceleration(model, data, XBODY, hand, y, 0)), 3)"
            " + np.r_[model.opt.gravity, np.zeros(3)]",
            "MuJoCo's is angular first, and has -gravity in it",
        ),
        Row("mj_comPos, MjData.subtree_com", "tf.center_of_mass(robot, q)", "data.subtree_com[0]"),
        Row(
            "mj_jacSubtreeCom",
            "tf.center_of_mass_jacobian(robot, q)",
            "filled((3, nv), lambda J: mj.mj_jacSubtreeCom(model, data, J, 1))",
        ),
        Row(
            "mj_subtreeVel, MjData.subtree_linvel, MjData.subtree_angmom",
            "tf.centroidal_momentum(robot, q, v)",
            "mujoco_.momentum(body, data.qpos, data.qvel)",
            "times the mass of the tree",
        ),
        Row(
            "mj_angmomMat",
            "tf.centroidal_map(robot, q)[3:]",
            "filled((3, nv), lambda A: mj.mj_angmomMat(model, data, A, 1))",
        ),
    ),
    "Configurations": (
        Row(
            "mj_integratePos",
            "tf.integrate(robot, q, x)",
            "mujoco_.configuration(model, moved(x))",
            "a free joint moves along a screw here, along a straight line in MuJoCo",
        ),
        Row(
            "mj_differentiatePos",
            "tf.difference(robot, q, tf.integrate(robot, q, x))",
            "filled(nv, lambda y: mj.mj_differentiatePos(model, y, 1.0, data.qpos, moved(x)))",
        ),
    ),
    "Simulation, derivatives": (
        Row(
            "mj_step",
            "np.concatenate(tf.step(robot, q, v, tau, h))",
            "stepped(1)",
            "the semi-implicit Euler step, without contacts; with them `constraints.Stepper`",
        ),
        Row(
            "rollout.rollout",
            "np.concatenate([x[-1] for x in tf.rollout(robot, q, v, tau, h, 20)])",
            "stepped(20)",
            "likewise; for a batch of motions, with leading axes",
            "rollout",
        ),
        Row(
            "mjd_inverseFD",
            "np.array(tf.rnea_derivatives(robot, q, v, a))",
            "inverse_derivatives()",
            "MuJoCo's are finite differences, transposed",
        ),
    ),
}

DRAKE = {
    "": (
        Row("CalcMassMatrix", "tf.crba(robot, q)", "plant.CalcMassMatrix(context)"),
        Row(
            "CalcBiasTerm, CalcGravityGeneralizedForces",
            "tf.bias(robot, q, v)",
            "plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)",
            "Drake's bias term is without gravity, and its forces of gravity have the other sign",
        ),
        Row(
            "CalcGravityGeneralizedForces",
            "tf.generalized_gravity(robot, q)",
            "-plant.CalcGravityGeneralizedForces(context)",
            "the other sign",
        ),
        Row(
            "CalcInverseDynamics",
            "tf.rnea(robot, q, v, x)",
            "drake_.inverse_dynamics(body, q, v, x)",
            "Drake's is without gravity unless its forces are passed",
        ),
        Row(
            "get_generalized_acceleration_output_port",
            "tf.forward_dynamics(robot, q, v, tau)",
            "drake_.acceleration(body, q, v, tau)",
            "without contacts and damping",
        ),
        Row(
            "Body.EvalPoseInWorld",
            'tf.frame_placement(robot, q, "hand")',
            'plant.GetBodyByName("hand").EvalPoseInWorld(context).GetAsMatrix34()',
        ),
        Row(
            "Body.EvalSpatialVelocityInWorld",
            'tf.frame_velocity(robot, q, v, "hand", "LOCAL_WORLD_ALIGNED")',
            'np.roll(plant.GetBodyByName("hand").EvalSpatialVelocityInWorld(context).get_coeffs(), 3)',
            "Drake's is angular first",
        ),
        Row(
            "CalcJacobianSpatialVelocity",
            'tf.frame_jacobian(robot, q, "hand", "LOCAL_WORLD_ALIGNED")',
            'drake_.jacobian(body, q, "hand")',
            "of the origin, expressed in the world; Drake's is angular first",
        ),
        Row(
            "CalcBiasSpatialAcceleration",
            'tf.task_bias(robot, q, v, "hand", "LOCAL_WORLD_ALIGNED")',
            'drake_.jacobian_dot_v(body, q, v, "hand")',
            "*J̇ v*",
        ),
        Row(
            "CalcCenterOfMassPositionInWorld",
            "tf.center_of_mass(robot, q)",
            "plant.CalcCenterOfMassPositionInWorld(context)",
        ),
        Row(
            "CalcSpatialMomentumInWorldAboutPoint",
            "tf.centroidal_momentum(robot, q, v)",
            "drake_.momentum(body, q, v)",
            "about the centre of mass",
        ),
        Row("EvalKineticEnergy", "tf.kinetic_energy(robot, q, v)", "plant.EvalKineticEnergy(context)"),
        Row("EvalPotentialEnergy", "tf.potential_energy(robot, q)", "plant.EvalPotentialEnergy(context)"),
    )
}

PYBULLET = {
    "": (
        Row("calculateMassMatrix", "tf.crba(robot, q)", "pybullet_.mass_matrix(body, q)"),
        Row(
            "calculateInverseDynamics",
            "tf.rnea(robot, q, v, x)",
            "pybullet_.inverse_dynamics(body, q, v, x)",
            "without the damping of joints",
        ),
        Row(
            "calculateInverseDynamics",
            "tf.bias(robot, q, v)",
            "pybullet_.bias(body, q, v)",
            "at zero acceleration",
        ),
        Row(
            "stepSimulation",
            "tf.forward_dynamics(robot, q, v, tau)",
            "pybullet_.acceleration(body, q, v, tau)",
            "the acceleration of one step, with motors, damping and limits off; `tf.step` for the step",
        ),
        Row(
            "getLinkState",
            'tf.frame_placement(robot, q, "hand")',
            'pybullet_.placement(body, q, "hand")[:3]',
            "entries 4 and 5 of the state; entries 0 and 1 are of the inertial frame",
        ),
        Row(
            "calculateJacobian",
            'tf.frame_jacobian(robot, q, "hand", "LOCAL_WORLD_ALIGNED")',
            'pybullet_.jacobian(body, q, "hand")',
            "PyBullet's has the axes of the inertial frame of the base",
        ),
    )
}


def mujoco() -> Html:
    """Show calls of MuJoCo, ours, and how many times faster these are."""
    return table("MuJoCo", MUJOCO, mujoco_ratios())


def drake() -> Html:
    """Show calls of Drake's MultibodyPlant, and ours."""
    return table("Drake", DRAKE)


def pybullet() -> Html:
    """Show calls of PyBullet, and ours."""
    return table("PyBullet", PYBULLET)


def table(engine: str, groups: Mapping[str, Iterable[Row]], ratios: Mapping[str, str] | None = None) -> Html:
    """Show rows, group by group, with ratios where there are any."""
    titles = [engine, "treefactor", *(["times faster"] if ratios else [])]
    body = ""
    for group, rows in groups.items():
        if group:
            body += f'<tr><th colspan="{len(titles)}" scope="rowgroup">{escape(group)}</th></tr>'
        for row in rows:
            note = f"<br>{prose(row.note)}" if row.note else ""
            body += f"<tr><td>{codes(row.theirs)}</td><td><code>{escape(row.ours)}</code>{note}</td>"
            body += f"<td>{ratios.get(row.timed, '–')}</td></tr>" if ratios else "</tr>"
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    return Html(
        f'<div class="scroll"><table class="words"><thead><tr>{head}</tr></thead>{body}</table></div>'
    )


def mujoco_ratios() -> dict[str, str]:
    """Return how many times faster than MuJoCo we are, over all robots, by the name of the figures."""
    ratios: dict[str, list[float]] = {}
    for name in ROBOTS:
        for result in measured(name)["results"]:
            if result["peer"] == "MuJoCo":
                ratios.setdefault(result["what"], []).append(result["ratio"])
    rates = measured("precision")["rates"].values()
    forward = [one["recursions, float64"] / one["MuJoCo mj_forward"] for one in rates]
    rollouts = {what.rpartition(", ")[2]: faster(some) for what, some in ratios.items() if "rollout" in what}
    return {
        "crba": f"{faster(ratios['crba'])}, bound call",
        "forward": f"{faster(forward)}, 1024 states",
        "rollout": "<br>".join(f"{span}, {way}" for way, span in rollouts.items()),
    }


def solvers(peer: str) -> Html:
    """Show the times of contact problems beside the solvers of an engine."""
    rows = (
        [
            problem(one["model"]),
            one["peer"],
            *(duration(one[side]) for side in ("ours", "theirs")),
            spread(one),
        ]
        for one in measured("mlcp")["results"]
        if one["peer"].startswith(peer)
    )
    return grid(["", "compared with", "ours", "theirs", "times faster"], rows)


def conversions() -> Html:
    """Show what reading a model costs: conversions of bodies that the engines have loaded."""
    ways = ("mujoco_.model", "pybullet_.model", "Model.from_urdf")
    robots = measured("fixed_costs")["robots"]
    return grid(
        ["", *ways],
        [[name, *(duration(one["seconds"][way]) for way in ways)] for name, one in robots.items()],
    )
