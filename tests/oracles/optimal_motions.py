"""Problems of optimal control as data that treefactor and Crocoddyl read alike, and what Crocoddyl found.

``python tests/oracles/optimal_motions.py`` solves them by the Crocoddyl of the Python that
TREEFACTOR_CROCODDYL_PYTHON names, and writes costs and iterations to tests/data/crocoddyl_costs.json.
"""

import json
import os
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import treefactor as tf
from treefactor import control, robots

STORED = Path(__file__).parents[1] / "data" / "crocoddyl_costs.json"
PEER = Path(__file__).with_name("crocoddyl_solvers.py")
TOLERANCE, ITERATIONS = 1e-9, 200
KINDS = {
    "state": control.StateCost,
    "control": control.ControlCost,
    "frame": control.FrameCost,
    "velocity": control.FrameVelocityCost,
    "com": control.ComCost,
    "limit": control.LimitCost,
}
CART_POLE = """<robot name="cart_pole"><link name="rail"/>
<link name="cart"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="pole"><inertial><origin xyz="0 0 0.5"/><mass value="0.2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="99" velocity="99"/></joint>
<joint name="hinge" type="revolute"><parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/>
<limit lower="-9" upper="9" effort="99" velocity="99"/></joint></robot>"""


@dataclass
class Motion:
    """A motion to find, in numbers, lists and strings.

    Attributes
    ----------
    urdf : str
        A path or a text.
    floating : bool
    q0, v0 : list
    u : list
        First controls, at all times.
    steps, dt : int, float
    terms : list
        (kind, arguments, factor at running times, factor at the end).
    actuated : list of int
        Entries of v with a force.
    limits : list, or None
        Lower and upper ones of the controls.
    guess : list
        A configuration that the first states of multiple shooting lead to, at equal distances.
    """

    urdf: str
    floating: bool
    q0: list
    v0: list
    u: list
    steps: int
    dt: float
    terms: list
    actuated: list
    limits: list | None
    guess: list

    def model(self) -> tf.Model:
        """Return the robot."""
        text = self.urdf.startswith("<")
        return (tf.Model.from_urdf_string if text else tf.Model.from_urdf)(self.urdf, floating=self.floating)

    def states(self):
        """Return the first states of multiple shooting."""
        share = np.linspace(0.0, 1.0, self.steps + 1)
        q = tf.interpolate(self.model(), np.array(self.q0), np.array(self.guess), share)
        return q, np.tile(self.v0, (self.steps + 1, 1))

    def solve(self, method: str, limited: bool) -> control.ILQRResult:
        """Return what `ilqr` finds."""
        model, costs = self.model(), []
        for kind, arguments, running, final in self.terms:
            at = {} if kind == "control" else {"at": np.r_[np.full(self.steps, running), final]}
            costs.append(KINDS[kind](**arguments, **at))
        options = {"method": method, "iterations": ITERATIONS, "tolerance": TOLERANCE}
        if limited:
            options["control_limits"] = self.limits
        if method == "multiple":
            options["q"], options["v"] = self.states()
        u = np.tile(self.u, (self.steps, 1))
        forces = np.eye(model.nv)[:, self.actuated]
        return control.ilqr(model, self.q0, self.v0, u, costs, self.dt, actuated=forces, **options)


def motion(name, q0, steps, dt, terms, seed, floating=False, passive=0, turn=0.3, limit=None):
    """Return a motion from a configuration at rest, whose first controls hold it, and a guess nearby."""
    path = CART_POLE if name == "cart_pole" else str(robots.find(name).path)
    read = tf.Model.from_urdf_string if path.startswith("<") else tf.Model.from_urdf
    model, rng = read(path, floating=floating), np.random.default_rng(seed)
    guess = tf.integrate(model, q0, turn * rng.normal(size=model.nv))
    hold = tf.generalized_gravity(model, q0)
    if floating:
        hold = 0.0 * hold
    actuated = list(range(6 * floating, model.nv - passive))
    made = terms(model, q0, guess, hold[actuated])
    bound = None if limit is None else limit * abs(hold[actuated]) + 5.0
    return Motion(
        path, floating, list(q0), [0.0] * model.nv, list(hold[actuated]), steps, dt, made, actuated,
        bound if limit is None else [list(-bound), list(bound)], list(guess),
    )  # fmt: skip


def reach(frame, velocity=False, limits=False):
    """Return terms that bring a frame to where a guess has it, from any robot."""

    def terms(model, q0, guess, hold):
        n, goal = model.nv, tf.frame_placement(model, guess, frame)
        made = [
            ("frame", {"frame": frame, "target": goal.tolist(), "weight": [2e3] * 3 + [5e2] * 3}, 0.01, 1.0),
            ("state", {"q": list(q0), "weight_q": [0.5] * n, "weight_v": [0.2] * n}, 1.0, 0.5),
            ("control", {"u": list(hold), "weight": [1e-3] * len(hold)}, 1.0, 0.0),
        ]
        if velocity:
            made.append(("velocity", {"frame": frame, "target": [0.0] * 6, "weight": [10.0] * 6}, 0.1, 5.0))
        if limits:
            low, high = (np.minimum, np.maximum)
            bounds = low(q0, guess) + 0.05, high(q0, guess) - 0.05
            pair = {"lower": low(*bounds).tolist(), "upper": high(*bounds).tolist()}
            made.append(("limit", pair, 300.0, 300.0))
        return made

    return terms


def fly(frame=None):
    """Return terms that bring the centre of mass and the posture of a floating robot to those of a guess."""

    def terms(model, q0, guess, hold):
        n = model.nv
        com = tf.center_of_mass(model, q0) - np.array([0.0, 0.0, 0.4])
        made = [
            ("com", {"target": com.tolist(), "weight": [100.0] * 3}, 0.0, 10.0),  # see crocoddyl_solvers.py
            ("state", {"q": list(guess), "weight_q": [20.0] * n, "weight_v": [0.1] * n}, 0.1, 10.0),
            ("control", {"u": list(hold), "weight": [1e-2] * len(hold)}, 1.0, 0.0),
        ]
        if frame:
            goal = tf.frame_placement(model, guess, frame)
            made.append(("frame", {"frame": frame, "target": goal.tolist(), "weight": [50.0] * 6}, 0.0, 1.0))
        return made

    return terms


def swing(model, q0, guess, hold):
    """Return terms that erect a pole."""
    return [
        ("state", {"q": [0.0, 0.0], "weight_q": [1.0, 2.0], "weight_v": [0.1, 0.1]}, 0.2, 200.0),
        ("control", {"u": [0.0], "weight": [1e-2]}, 1.0, 0.0),
    ]


def motions() -> dict[str, Motion]:
    """Return the six problems."""
    arm = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8, 0.02, 0.02])
    kinova = tf.Model.from_urdf(robots.find("kinova").path)
    solo = tf.Model.from_urdf(robots.find("solo12").path, floating=True)
    talos = tf.Model.from_urdf(robots.find("talos_reduced").path, floating=True)
    bent = np.linspace(-0.5, 0.5, 6)
    open_arm = tf.integrate(kinova, tf.neutral(kinova), np.full(6, 0.5))
    grip, end = fly("gripper_left_joint"), reach("j2s6s200_end_effector", velocity=True)
    lying = tf.neutral(solo), tf.neutral(talos)
    return {
        "ur5": motion("ur5_robot", bent - [0, 1, 0, 0, 0, 0], 30, 0.02, reach("tool0"), 1, limit=0.6),
        "panda": motion("panda", arm, 30, 0.02, reach("panda_hand_tcp", limits=True), 2),
        "kinova": motion("kinova", open_arm, 30, 0.02, end, 3, limit=0.6),
        "solo12": motion("solo12", lying[0], 25, 0.02, fly(), 4, floating=True, turn=0.2),
        "talos": motion("talos_reduced", lying[1], 12, 0.02, grip, 5, floating=True, turn=0.1),
        "cart_pole": motion("cart_pole", np.array([0.0, np.pi]), 80, 0.03, swing, 6, passive=1, limit=0.0),
    }


def main():
    """Store what Crocoddyl finds."""
    with tempfile.TemporaryDirectory() as folder:
        given, answers = Path(folder) / "given.json", Path(folder) / "answers.json"
        problems = {name: asdict(one) for name, one in motions().items()}
        for name, one in motions().items():
            q, v = one.states()
            problems[name]["states"] = np.concatenate([q, v], axis=-1).tolist()
        given.write_text(json.dumps({"motions": problems, "tolerance": TOLERANCE, "iterations": ITERATIONS}))
        python = os.environ["TREEFACTOR_CROCODDYL_PYTHON"]
        subprocess.run([python, str(PEER), str(given), str(answers)], check=True)
        STORED.write_text(json.dumps(json.loads(answers.read_text()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
