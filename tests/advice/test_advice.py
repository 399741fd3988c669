"""Advice on small scripts: which calls are found, which loops become batches, and what never may."""

import ast
import json
import re
import sys
from pathlib import Path
from textwrap import dedent, indent

import numpy as np
import pytest

import treefactor as tf
from treefactor.advice import advise
from treefactor.advice.known import ATTRIBUTES, KNOWN, TOGETHER, gain
from treefactor.quantities.table import QUANTITIES

HEAD = "import numpy as np\nimport pinocchio as pin\n"


@pytest.fixture
def advice(tmp_path):
    """Return a function that writes a script and returns the report about it."""

    def write(text, head=HEAD):
        path = tmp_path / "script.py"
        path.write_text(head + dedent(text).lstrip("\n"))
        return advise(path)

    return write


def steps(report):
    return [one.step for one in report.advice]


def the_only(report):
    (one,) = report.advice
    return one


# ---------------------------------------------------------------------------------------- how it is imported

STYLES = {
    "import pinocchio as pin": "pin.crba",
    "import pinocchio": "pinocchio.crba",
    "import pinocchio as se3": "se3.crba",
    "from pinocchio import crba": "crba",
    "from pinocchio import crba as mass_matrix": "mass_matrix",
    "from pinocchio import *": "crba",
    "import pinocchio.robot_wrapper, numpy": "pinocchio.crba",
    "try:\n    import pinocchio as pin\nexcept ImportError:\n    pin = None": "pin.crba",
    "def f():\n    import pinocchio as pin": "pin.crba",
}


@pytest.mark.parametrize("head", STYLES, ids=STYLES.get)
def test_functions_are_found_however_they_are_imported(advice, head):
    one = the_only(advice(f"for q in qs:\n    M = {STYLES[head]}(model, data, q)", f"{head}\n"))
    assert (one.step, one.ours, one.theirs) == ("batch", "tf.crba(robot, qs)", (STYLES[head],))


@pytest.mark.parametrize(
    ("head", "call", "ours"),
    [
        ("from pinocchio.utils import rotate", "rotate('x', angle)", "so3.exp(...)"),
        ("import pinocchio as pin", "pin.utils.rpyToMatrix(rpy)", "so3.from_rpy(rpy)"),
        ("from pinocchio.rpy import matrixToRpy as angles", "angles(R)", "so3.to_rpy(R)"),
        ("import pinocchio.rpy as rpy", "rpy.rpyToMatrix(x)", "so3.from_rpy(x)"),
        ("from pinocchio.explog import exp6", "exp6(nu)", "se3.exp(nu)"),
        ("from pinocchio.utils import *", "rpyToMatrix(rpy)", "so3.from_rpy(rpy)"),
    ],
)
def test_submodules_are_followed(advice, head, call, ours):
    assert the_only(advice(f"while True:\n    x = {call}", f"{head}\n")).ours == ours


WRAPPERS = [
    "from pinocchio.robot_wrapper import RobotWrapper\nrobot = RobotWrapper.BuildFromURDF(path)",
    "from pinocchio import RobotWrapper\nrobot = RobotWrapper(model)",
    "import pinocchio as pin\nwrapped = pin.RobotWrapper.BuildFromURDF(path)\nrobot = wrapped",
    "import pinocchio as pin\nrobot = pin.robot_wrapper.RobotWrapper.BuildFromMJCF(path)",
    "import example_robot_data\nrobot = example_robot_data.load('ur5')",
    "from example_robot_data import loadTalos\nrobot = loadTalos()",
    "import pinocchio as pin\nclass Mine(pin.RobotWrapper): pass\nrobot = Mine()",
]


@pytest.mark.parametrize("head", WRAPPERS)
def test_methods_of_robot_wrapper_are_found(advice, head):
    report = advice("for q in qs:\n    M = robot.mass(q)\n    h = robot.nle(q, v)", f"{head}\n")
    assert {one.ours for one in report.advice} == {"tf.crba(tf_robot, qs)", "tf.bias(tf_robot, qs, v)"}
    assert report.models == {"robot.model": "tf_robot"}


def test_methods_of_other_objects_are_not_those_of_robot_wrapper(advice):
    text = "robot = tsid.RobotWrapper(path)\nfor q in qs:\n    robot.mass(data)\n    table.com(q)"
    report = advice(text, "import pinocchio as pin\nimport tsid\n")
    assert (report.advice, report.in_loops) == ([], 0)


def test_casadi_of_pinocchio_stays(advice):
    report = advice("for k in range(9):\n    cpin.aba(m, d, q, v, tau)", "import pinocchio.casadi as cpin\n")
    assert (report.advice, report.stay) == ([], {"cpin.aba": ["line 3"]})


def test_scripts_without_pinocchio_are_named(advice):
    report = advice("for q in qs:\n    pin.crba(model, data, q)", "import pin\n")
    assert not report.imports_pinocchio
    assert (report.advice, report.in_loops, report.outside) == ([], 0, 0)


# ------------------------------------------------------------------------------- loops that become batches

BATCHES = {
    "elements": ("for q in qs:\n    pin.crba(m, d, q)", "qs"),
    "enumerate": ("for k, q in enumerate(qs):\n    Ms[k] = pin.crba(m, d, q)", "qs"),
    "index": ("for k in range(n):\n    pin.crba(m, d, qs[k])", "qs"),
    "row": ("for k in range(n):\n    pin.crba(m, d, qs[k, :])", "qs"),
    "column": ("for k in range(n):\n    pin.crba(m, d, qs[:, k])", "qs.T"),
    "zip": ("for q, v in zip(self.qs, vs):\n    pin.crba(m, d, q)", "self.qs"),
    "comprehension": ("Ms = [pin.crba(m, d, q).copy() for q in qs]", "qs"),
    "generator": ("total = sum(pin.crba(m, d, q).trace() for q in qs if ok(q))", "qs"),
    "dict": ("Ms = {k: pin.crba(m, d, q) for k, q in enumerate(qs)}", "qs"),
    "tqdm": ("for q in tqdm(qs):\n    pin.crba(m, d, q)", "qs"),
    "assigned": ("for k in range(n):\n    q = qs[k] + offset\n    pin.crba(m, d, q)", "Q"),
    "random": ("for _ in range(n):\n    q = np.random.rand(7)\n    pin.crba(m, d, q)", "Q"),
    "own random": ("while True:\n    q = pin.randomConfiguration(m)\n    pin.crba(m, d, q)", "Q"),
    "counted": ("k = 0\nwhile k < n:\n    pin.crba(m, d, f(k))\n    k += 1", "Q"),
    "time": ("t = 0\nwhile t < T:\n    q = f(t)\n    pin.crba(m, d, q)\n    t = t + dt", "Q"),
    "sum": ("for q in qs:\n    cost = cost + np.trace(pin.crba(m, d, q))", "qs"),
    "both branches": (
        "for k in ks:\n    if k % 2:\n        q = a(k)\n    else:\n        q = b(k)\n    pin.crba(m, d, q)",
        "Q",
    ),
    "element set first": (
        "for k in range(n):\n    qs[k] = f(k)\n    pin.crba(m, d, qs[k])",
        "qs",
    ),
    "copy changed": (
        "for k in range(n):\n    q = q0.copy()\n    q[k] += eps\n    pin.crba(m, d, q)",
        "Q",
    ),
    "entry set": ("for k in ks:\n    q = q0.copy()\n    q[k] = eps\n    pin.crba(m, d, q)", "Q"),
    "nested": ("for a in A:\n    for b in B:\n        pin.crba(m, d, f(a, b))", "Q"),
}


@pytest.mark.parametrize("text", [pytest.param(one, id=name) for name, one in BATCHES.items()])
def test_loops_over_independent_configurations_become_batches(advice, text):
    script, q = text
    one = next(one for one in advice(script).advice if "crba" in one.ours)
    assert (one.step, one.ours) == ("batch", f"tf.crba(robot, {q})")
    assert one.gain == gain("crba", "batch of 1024")


def test_calls_in_functions_are_in_the_loops_that_call_them(advice):
    report = advice(
        """
        def mass(model, data, q):
            return pin.crba(model, data, q)

        def traces(model, data, qs):
            out = []
            for q in qs:
                out.append(np.trace(mass(model, data, q)))
            return out
        """
    )
    one = the_only(report)
    assert (one.step, one.places, one.ours) == ("batch", ("line 4",), "tf.crba(robot, qs)")
    assert one.loop == "line 8: for q in qs"


def test_arguments_are_not_taken_for_targets_of_the_same_name(advice):
    report = advice("def mass(q):\n    return pin.crba(model, data, q)\nfor q in qs:\n    mass(g(q))")
    assert the_only(report).ours == "tf.crba(robot, Q)"


def test_methods_of_classes_are_followed(advice):
    report = advice(
        """
        class Arm:
            def __init__(self, model):
                self.model, self.data = model, model.createData()

            def gravity(self, q):
                return pin.computeGeneralizedGravity(self.model, self.data, q)

            def table(self):
                return [self.gravity(q) for q in self.qs]

        arm = Arm(model)
        for q in more:
            arm.gravity(q)
        """
    )
    assert {(one.step, one.places) for one in report.advice} == {("batch", ("line 8",))}
    assert report.in_loops == 1


def test_the_first_step_counts_for_functions_that_several_loops_call(advice):
    report = advice(
        """
        def mass(q):
            return pin.crba(model, data, q)

        while True:
            x = f(x, mass(x))
        for q in qs:
            mass(q)
        """
    )
    assert steps(report) == ["batch"]
    assert report.in_loops == 1


def test_displays_do_not_change_a_robot(advice):
    head = "from example_robot_data import load\nrobot = load('ur5')\n"
    text = "for q in qs:\n    M = pin.crba(robot.model, robot.data, q)\n    robot.display(q)"
    report = advice(text, f"{head}import pinocchio as pin\n")
    assert the_only(report).ours == "tf.crba(tf_robot, qs)"


def test_a_loop_that_steps_can_be_in_a_batch(advice):
    """Inverse kinematics for many targets: all targets step together."""
    report = advice(
        """
        for target in targets:
            q = q0.copy()
            for _ in range(100):
                J = pin.computeFrameJacobian(model, data, q, frame)
                q = pin.integrate(model, q, step(J, target))
        """
    )
    assert set(steps(report)) == {"batch"}
    assert {one.loop for one in report.advice} == {"line 3: for target in targets"}
    assert all("keep the loop at line 5" in one.note for one in report.advice)
    assert list(report.dependent) == ["line 5: for _ in range(100)"]


def test_samples_within_a_simulation_become_a_batch(advice):
    report = advice(
        """
        for t in range(T):
            for u in samples:
                a = pin.aba(model, data, q, v, u)
                costs.append(a @ a)
            v = v + dt * best(costs)
            q = pin.integrate(model, q, v * dt)
        """
    )
    batch, replaced = report.advice
    assert (batch.step, batch.loop) == ("batch", "line 4: for u in samples")
    assert batch.ours == "tf.forward_dynamics(robot, q, v, samples)"
    assert batch.note == ""
    assert replaced.step == "replace"


# ----------------------------------------------------------------------------------- loops that must stay

DEPENDENT = {
    "integrated": "for _ in range(n):\n    M = pin.crba(m, d, q)\n    q = pin.integrate(m, q, M @ u)",
    "added": "for _ in range(n):\n    a = pin.aba(m, d, q, v, u)\n    v += a * h\n    q += v * h",
    "while": "while True:\n    e = pin.crba(m, d, q)\n    if small(e):\n        break\n    q = better(q, e)",
    "before": "for u in us:\n    q = q + old\n    old = f(u)\n    pin.crba(m, d, q)",
    "next element": "for k in ks:\n    qs[k + 1] = pin.integrate(m, qs[k], vs[k])\n    pin.crba(m, d, qs[k])",
    "column of all": "for k in range(n):\n    Q[:, k] = f(Q)\n    pin.crba(m, d, Q[:, k - 1])",
    "part": "for k in range(n):\n    q[k] = 0.5\n    pin.crba(m, d, q)",
    "appended": "for _ in range(n):\n    pin.crba(m, d, path[-1])\n    path.append(f(path))",
    "first": "for k in ks:\n    if k == 0:\n     q = q0\n    else:\n     q = f(q, k)\n    pin.crba(m, d, q)",
    "one branch": "for k in range(n):\n    pin.crba(m, d, q)\n    if k % 2:\n        q = f(k)",
    "through data": "for _ in ks:\n    x = d.ddq * h\n    pin.crba(m, d, x)\n    pin.aba(m, d, x, v, u)",
    "through an object": "for _ in ks:\n    q = sim.state(1)\n    M = pin.crba(m, d, q)\n    sim.send(M)",
    "read anew": "while True:\n    q = sensor.read()\n    pin.crba(m, d, q)",
    "clock": "while True:\n    q = f(time.time())\n    pin.crba(m, d, q)",
    "unpacked": "for u in us:\n    q, v = f(q, v, u)\n    pin.crba(m, d, q)",
    "walrus": "while (q := f(q)) is not None:\n    pin.crba(m, d, q)",
    "model": "for x in masses:\n    m.inertias[1] = scaled(x)\n    pin.crba(m, d, f(x))",
    "other models": "for m in models:\n    pin.crba(m, d, f(m))",
    "counter that follows": "k = 0\nwhile k < n:\n    M = pin.crba(m, d, qs[k])\n    k += jump(M)",
}


@pytest.mark.parametrize("script", DEPENDENT.values(), ids=DEPENDENT)
def test_loops_that_depend_on_earlier_iterations_are_not_batched(advice, script):
    report = advice(f"import time\n{script}")
    calls = [
        one for one in report.advice if "crba" in one.ours or "forward" in one.ours or "step" in one.ours
    ]
    assert calls
    assert "batch" not in {one.step for one in calls}
    assert bool(report.dependent) != (script in (DEPENDENT["model"], DEPENDENT["other models"]))


def test_dependence_is_seen_through_functions_and_attributes(advice):
    report = advice(
        """
        class Simulation:
            def step(self, tau):
                self.a = pin.aba(self.model, self.data, self.q, self.v, tau)
                self.advance()

            def advance(self):
                self.v = self.v + self.a * self.dt
                self.q = pin.integrate(self.model, self.q, self.v * self.dt)

            def run(self, taus):
                for tau in taus:
                    self.step(tau)
        """
    )
    assert set(steps(report)) == {"fuse"}
    (names,) = report.dependent.values()
    assert {"self.q", "self.v"} <= set(names)


def test_dependence_is_seen_through_arguments(advice):
    report = advice(
        """
        def step(x, u):
            M = pin.crba(model, data, x)
            return pin.integrate(model, x, M @ u)

        for u in us:
            q = step(q, u)
        """
    )
    assert set(steps(report)) == {"replace"}
    assert report.dependent == {"line 7: for u in us": ["q"]}


def test_values_of_functions_that_are_not_followed_are_not_known_beforehand(advice):
    chain = "\n".join(f"def f{k}(x):\n    return f{k + 1}(x)" for k in range(20))
    report = advice(f"{chain}\nfor k in ks:\n    pin.crba(model, data, f0(k))")
    assert steps(report) == ["replace"]
    assert list(report.dependent.values()) == [["values read anew"]]


def test_changes_of_models_are_named(advice):
    one = the_only(advice(f"import time\n{DEPENDENT['model']}"))
    assert (
        one.note
        == "the model changes in the loop at line 4, and ours is a copy: convert it after each change"
    )
    assert the_only(advice(BATCHES["elements"][0])).note == ""


def test_the_length_of_loops_with_a_condition_is_not_known(advice):
    one = next(one for one in advice(BATCHES["counted"][0]).advice)
    assert one.note.endswith("for as many iterations as the loop may need")


def test_heads_of_loops_are_as_written(advice):
    report = advice("for k, (q, (v, a)) in enumerate(zip(qs, vs)):\n    pin.rnea(model, data, q, v, a)")
    assert the_only(report).loop == "line 3: for k, (q, (v, a)) in enumerate(zip(qs, vs))"


def test_recursion_ends(advice):
    report = advice("def f(q):\n    pin.crba(model, data, q)\n    return f(q)\nfor q in qs:\n    f(q)")
    assert steps(report) == ["batch"]


# ----------------------------------------------------------------------------------------- calls on one state

BOTH = "M = pin.crba(m, d, q)\n    h = pin.nle(m, d, q, v)\n    "
SOLVED = {
    "solve": f"{BOTH}a = np.linalg.solve(M, tau - h)",
    "inverse": "M = pin.crba(m, d, q)\n    h = pin.nonLinearEffects(m, d, q, v)\n"
    "    a = np.linalg.inv(M) @ (tau - h)",
    "named inverse": "M = pin.crba(m, d, q).copy()\n    h = pin.nle(m, d, q, v)\n    X = np.linalg.pinv(M)\n"
    "    a = X.dot(tau - h)",
    "data": "pin.crba(m, d, q)\n    h = pin.nle(m, d, q, v)\n    a = np.linalg.solve(d.M, tau - h)",
    "scipy": f"{BOTH}a = cho_solve(cho_factor(M), tau - h)",
}


@pytest.mark.parametrize("text", SOLVED.values(), ids=SOLVED)
def test_inertia_bias_and_solution_become_forward_dynamics(advice, text):
    head = f"{HEAD}from scipy.linalg import cho_factor, cho_solve\n"
    one = the_only(advice(f"for _ in range(n):\n    {text}\n    q = f(q)\n    v = a", head))
    assert (one.step, one.ours) == ("fuse", "tf.forward_dynamics(robot, q, v, tau)")
    assert one.measured == "crba, nle, solve"


NOT_SOLVED = {
    "another matrix": f"{BOTH}a = np.linalg.solve(K, tau - h)",
    "changed": f"{BOTH}M = M + K\n    a = np.linalg.solve(M, tau - h)",
    "added to": f"{BOTH}M += K\n    a = np.linalg.solve(M, tau - h)",
    "another state": f"{BOTH}a = np.linalg.solve(M, tau - h)".replace("\n", "\n    q = f(q)\n", 1),
    "unused bias": f"{BOTH}a = np.linalg.solve(M, tau)",
    "computed torque": f"{BOTH}tau = M @ a + h",
}


@pytest.mark.parametrize("text", NOT_SOLVED.values(), ids=NOT_SOLVED)
def test_other_solutions_are_not_forward_dynamics(advice, text):
    report = advice(f"for _ in range(n):\n    {text}\n    q = f(q)\n    v = a")
    assert not any("forward_dynamics" in one.ours for one in report.advice)
    assert {one.ours for one in report.advice} >= {"tf.crba(robot, q)", "tf.bias(robot, q, v)"}


def test_calls_of_other_loops_are_not_fused(advice):
    report = advice(
        """
        for q in qs:
            M = pin.crba(model, data, q)
            for v in vs:
                h = pin.nle(model, data, q, v)
                a = np.linalg.solve(M, tau - h)
        """
    )
    assert sorted(one.ours for one in report.advice) == ["tf.bias(robot, qs, v)", "tf.crba(robot, qs)"]


def test_steps_and_rollouts(advice):
    text = """
    for k in range(n):
        {tau}
        a = pin.aba(model, data, q, v, tau)
        v = v + a * dt
        q = pin.integrate(model, q, v * dt)
    """
    rolled = the_only(advice(text.format(tau="tau = taus[k]")))
    assert (rolled.step, rolled.ours) == ("fuse", "tf.rollout(robot, q, v, TAU, dt)")
    assert rolled.gain == gain("rollout", "one call")
    assert the_only(advice(text.format(tau=""))).ours == "tf.rollout(robot, q, v, TAU, dt)"
    stepped = the_only(advice(text.format(tau="tau = -K @ v")))
    assert (stepped.ours, stepped.theirs) == ("tf.step(robot, q, v, tau, dt)", ("pin.aba", "pin.integrate"))
    assert stepped.gain == gain("step", "one call")


def test_explicit_steps_are_not_fused(advice):
    report = advice(
        "for tau in taus:\n    a = pin.aba(model, data, q, v, tau)\n"
        "    q = pin.integrate(model, q, v * dt)\n    v = v + a * dt"
    )
    assert set(steps(report)) == {"replace"}


def test_steps_with_corrected_configurations_are_not_rollouts(advice):
    report = advice(
        "for tau in taus:\n    a = pin.aba(model, data, q, v, tau)\n    v = v + a * dt\n"
        "    q = pin.integrate(model, q, v * dt)\n    q = project(q)"
    )
    assert the_only(report).ours == "tf.step(robot, q, v, tau, dt)"


def test_solution_and_integration_become_a_step(advice):
    text = SOLVED["solve"]
    report = advice(f"for tau in taus:\n    {text}\n    v = v + a * dt\n    q = pin.integrate(m, q, dt * v)")
    one = the_only(report)
    assert one.ours == "tf.step(robot, q, v, tau, dt)"
    assert one.theirs == ("pin.crba", "pin.nle", "np.linalg.solve", "pin.integrate")


def test_results_of_one_pass_become_a_request(advice):
    one = the_only(
        advice(
            """
            hand = model.getFrameId("hand")
            while True:
                pin.forwardKinematics(model, data, q, v)
                pin.updateFramePlacements(model, data)
                pin.computeJointJacobians(model, data, q)
                M = data.oMf[hand]
                J = pin.getFrameJacobian(model, data, hand, pin.LOCAL_WORLD_ALIGNED)
                nu = pin.getFrameVelocity(model, data, hand)
                c = pin.centerOfMass(model, data, q)
                q = f(q, M, J, nu, c)
            """
        )
    )
    assert one.step == "fuse"
    assert one.measured == "Kinematics"
    request, call = one.ours.removesuffix(")").split(", once; ")
    assert call == "request(q, v"
    listed = ast.parse(request.removeprefix("request = ")).body[0].value
    asked = {one.arg: ast.unparse(one.value) for one in listed.keywords}
    assert asked == {
        "placements": "['hand']",
        "jacobians": "[('hand', 'LOCAL_WORLD_ALIGNED')]",
        "velocities": "['hand']",
        "center_of_mass": "True",
    }


def test_loops_over_frames_become_lists(advice):
    report = advice(
        """
        while True:
            pin.computeJointJacobians(model, data, q)
            for frame in frames:
                J = pin.getFrameJacobian(model, data, frame, pin.WORLD)
            q = f(q, J)
        """
    )
    one = the_only(report)
    assert one.ours == 'tf.frame_jacobian(robot, q, model.frames[frame].name, "WORLD")'
    assert one.note == "once, for a list of all frames, before the loop at line 5"


def test_results_of_other_states_are_not_requested_together(advice):
    report = advice(
        "for _ in range(n):\n    J = pin.computeFrameJacobian(model, data, q, 3)\n    q = f(q)\n"
        "    c = pin.centerOfMass(model, data, q)"
    )
    assert set(steps(report)) == {"replace"}


def test_inertia_at_a_frame(advice):
    text = """
    while True:
        J = pin.computeFrameJacobian(model, data, q, frame, pin.ReferenceFrame.WORLD)
        W = pin.computeMinverse(model, data, q)
        inertia = np.linalg.inv(J @ W @ J.T)
        q = f(q, inertia)
    """
    one = the_only(advice(text))
    assert one.ours == 'tf.operational_inertia(robot, q, model.frames[frame].name, "WORLD")'
    assert one.gain == gain("operational_inertia", "one call")
    report = advice(text.replace("W @ J.T", "J.T"))
    assert len(report.advice) == 2
    text = (
        text.replace("model", "robot.model")
        .replace("data", "robot.data")
        .replace("J @ W @ J.T", "robot.K(q)")
    )
    assert not any("operational" in one.ours for one in advice(text).advice)


# ------------------------------------------------------------------------------------------ what is written

WRITTEN = {
    "pin.rnea(self.model, self.data, self.q, v, np.zeros(7))": "tf.rnea(robot, self.q, v, np.zeros(7))",
    "pin.rnea(model=m, data=d, q=q, v=v, a=a)": "tf.rnea(robot, q, v, a)",
    "pin.crba(m, d, q=q)": "tf.crba(robot, q)",
    "pin.rnea(m, d, q, v, a, fext)": "tf.rnea(robot, q, v, a, fext)",
    "pin.computeFrameJacobian(m, d, q, frame)": "tf.frame_jacobian(robot, q, m.frames[frame].name)",
    "pin.computeFrameJacobian(m, d, q, m.getFrameId('tip'), pin.LOCAL)": "tf.frame_jacobian(robot, q, 'tip')",
    "pin.computeJointJacobian(m, d, q, 6)": "tf.joint_jacobian(robot, q, m.names[6])",
    "pin.framesForwardKinematics(m, d, q); x = d.oMf[hand].rotation": "tf.frame_placement(robot, q, 'tool')",
    "pin.framesForwardKinematics(m, d, q); pin.updateFramePlacements(m, d); x = d.oMf[hand]": (
        "tf.frame_placement(robot, q, 'tool')"
    ),
    "pin.forwardKinematics(m, d, q); x = d.oMi[j]": "tf.frame_placement(robot, q, m.names[j])",
    "pin.forwardKinematics(m, d, q); send(d.oMi)": "tf.joint_placements(robot, q)",
    "pin.forwardKinematics(m, d, q, v, a); x = pin.getFrameClassicalAcceleration(m, d, hand, "
    "pin.ReferenceFrame.WORLD)": "tf.frame_acceleration(robot, q, v, a, 'tool', \"WORLD\", classical=True)",
    "pin.centerOfMass(m, d, q, v, a)": "tf.center_of_mass(robot, q, v, a)",
    "pin.computeTotalMass(m)": "treefactor.Model.mass",
    "pin.interpolate(m, q, q1, 0.5)": "tf.interpolate(robot, q, q1, 0.5)",
    "pin.log6(d.oMi[1])": "se3.log(d.oMi[1])",
    "pin.computeAllTerms(m, d, q, v)": "tf.all_terms(robot, q, v)",
}


@pytest.mark.parametrize("call", WRITTEN)
def test_calls_are_written_with_the_arguments_of_the_script(advice, call):
    report = advice(f"hand = m.getFrameId('tool')\nwhile ok():\n    {call}")
    assert [one.ours for one in report.advice] == [WRITTEN[call]]


@pytest.mark.parametrize(
    "text",
    [
        "a = pin.aba(*x)\n    q = pin.integrate(m, q, a)",
        "a = pin.aba(m, d, *x)\n    v = v + a * h\n    q = pin.integrate(m, x, v * h)",
        "pin.crba()",
        "pin.crba(m)",
        "pin.updateFramePlacements(m, d)",
        "pin.getFrameJacobian(m, d, 3)",
        "np.linalg.inv(pin.crba(m, d, q))",
        "pin.integrate(m, **x)",
        "robot.framePlacement()",
        "[pin.crba(m, d, q) for q in (yield)]",
        "x[pin.crba(m, d, q)[0]] = y",
        "lambda q: pin.crba(m, d, q)",
        "match q:\n        case [1, x]:\n            pin.crba(m, d, x)",
        "async def f():\n        async for q in s:\n            pin.crba(m, d, q)",
        "def f(*q, **k): return pin.crba(m, d, q)\n    f(*x, **y)",
        "class A:\n        def f(): pin.crba(m, d, q)\n    A.f()",
        "with pin.crba(m, d, q) as (a, *b): pass",
        "try: pin.crba(m, d, q)\n    except* ValueError: q = f(q)" if sys.version_info >= (3, 11) else "pass",
    ],
)
def test_unusual_scripts_are_read(advice, text):
    report = advice(
        f"for k in ks:\n    {text}", f"{HEAD}from example_robot_data import load\nrobot = load()\n"
    )
    assert report.imports_pinocchio


def wrapper_calls():
    for name, known in KNOWN.items():
        method = name.removeprefix("RobotWrapper.")
        if known.quantity and method != name and not method.startswith("get"):
            arrays = [one.name for one in known.quantity.inputs if not (one.optional and not one.needed)]
            frame = [one.name for one in known.quantity.options if one.kind == "frame" and one.default is ...]
            yield method, known, [*arrays, *frame]


@pytest.mark.parametrize(
    ("method", "known", "arguments"), [pytest.param(*one, id=one[0]) for one in wrapper_calls()]
)
def test_methods_of_robot_wrapper_take_our_arguments(advice, method, known, arguments):
    pin = pytest.importorskip("pinocchio", reason="its own methods")
    names = ast.parse(f"f({', '.join(arguments)})").body[0].value.args
    signature = list(__import__("inspect").signature(getattr(pin.RobotWrapper, method)).parameters)[1:]
    passes = method in ("forwardKinematics", "framesForwardKinematics", "computeJointJacobians")
    assert len(signature) >= len(names) or passes
    text = f"while True:\n    robot.{method}({', '.join(arguments[: len(signature)])})"
    one = the_only(advice(text, "from example_robot_data import load\nrobot = load('ur5')\n"))
    assert one.ours.startswith(f"{known.name}(tf_robot, q")


def timed_calls():
    for name, quantity in QUANTITIES.items():
        for line in quantity.timed if quantity.has_model else ():
            if line.call.startswith("pin.") and "weightless" not in line.call and "still" not in line.call:
                yield pytest.param(quantity, line, id=f"{name}: {line.what or line.call[:40]}")


@pytest.fixture(scope="module")
def humanoid():
    """Return names for the calls of declarations, and of what is advised."""
    pin = pytest.importorskip("pinocchio", reason="the calls are its own")
    from treefactor.adapters import pinocchio_

    model = pin.buildSampleModelHumanoid()
    robot, rng = pinocchio_.model(model), np.random.default_rng(0)
    v, a, tau, w, dq, dv, da, dtau = rng.normal(size=(8, model.nv))
    q, r = tf.integrate(robot, np.tile(tf.neutral(robot), (2, 1)), rng.normal(size=(2, model.nv)))
    fext = rng.normal(size=(robot.njoints, 6))
    forces = pin.StdVec_Force([pin.Force.Zero(), *map(pin.Force, fext)])
    return {
        **{
            "pin": pin,
            "tf": tf,
            "np": np,
            "model": model,
            "data": model.createData(),
            "robot": robot,
            "q": q,
        },
        **{"r": r, "s": q.copy(), "v": v, "a": a, "tau": tau, "w": w, "dq": dq, "dv": dv, "da": da},
        **{"dtau": dtau, "frame": 20, "joint": 5, "forces": forces, "fext": fext},
    }


@pytest.mark.parametrize(("quantity", "line"), list(timed_calls()))
def test_what_is_advised_for_every_declared_call_runs_and_computes_the_same(advice, humanoid, quantity, line):
    """Calls of several matrices are replaced one by one."""
    body = indent("\n".join(line.call.split("; ")), "    ")
    report = advice(f"for _ in range(9):\n{body}")
    assert report.advice
    for one in report.advice:
        if one.ours.startswith("tf.") and "forces" not in one.ours:
            result = eval(one.ours, dict(humanoid))
            assert result is not None
    last = line.call.split("; ")[-1]
    if last.startswith("pin.") and last.count("pin.") - last.count("pin.LOCAL") - last.count("pin.ARG") == 1:
        for statement in line.call.split("; ")[:-1]:
            exec(statement, dict(humanoid))
        theirs = eval(last, dict(humanoid))
        theirs = getattr(theirs, "vector", theirs)
        if isinstance(theirs, np.ndarray) and "forces" not in last and len(report.advice) == 1:
            ours = eval(report.advice[0].ours, dict(humanoid))
            ours = ours[0] if isinstance(ours, tuple) else ours
            if ours.shape == theirs.shape:
                np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


# --------------------------------------------------------------------------------- gains, and what stays


def test_gains_are_those_of_the_stored_times():
    path = Path(tf.__file__).parents[1] / "docs" / "measured" / "from_pinocchio.json"
    robots = json.loads(path.read_text())["robots"]
    ratios = [one["ratio"] for results in robots.values() for one in results if one["what"] == "rnea"]
    assert len(ratios) == 9
    for way in ("one call", "bound call", "batch of 1024"):
        own = [
            one["ratio"]
            for results in robots.values()
            for one in results
            if (one["what"], one["target"]) == ("rnea", way)
        ]
        assert gain("rnea", way) == pytest.approx((min(own), max(own)), rel=5e-3)
    assert gain("nothing", "one call") is None


def test_the_larger_gains_come_first(advice):
    report = advice(
        """
        for q, v in zip(qs, vs):
            pin.nle(model, data, q, v)
            pin.framesForwardKinematics(model, data, q)
            pin.exp6(v)
        while True:
            pin.crba(model, data, x)
            pin.rnea(model, data, x, x, x)
            x = f(x)
        """
    )
    assert steps(report) == ["batch"] * 3 + ["replace"] * 2
    batches, poses = report.advice[:2], report.advice[2]
    assert batches[0].gain > batches[1].gain
    assert poses.ours.startswith("se3.exp")
    assert [one.gain[1] for one in report.advice[3:]] == sorted(
        (one.gain[1] for one in report.advice[3:]), reverse=True
    )


def test_what_has_no_counterpart_stays(advice):
    report = advice(
        """
        pin.computeDistances(gm, gd)
        for q in qs:
            pin.computeCollisions(model, data, gm, gd, q, False)
            pin.updateGeometryPlacements(model, data, gm, gd, q)
            M = pin.SE3.Random() * pin.SE3(R, p)
            pin.computeCollisions(model, data, gm, gd, q, True)
        """
    )
    assert report.stay == {
        "pin.computeCollisions": ["line 5", "line 8"],
        "pin.updateGeometryPlacements": ["line 6"],
    }
    assert report.advice == []
    assert report.outside == 1


def test_models_are_converted_once(advice):
    report = advice(
        "robot = 3\nfor q in qs:\n    pin.crba(model, data, q)\n    pin.crba(self.model, self.data, q)\n"
        "    pin.nle(model, data, q, v)"
    )
    assert report.models == {"model": "tf_robot", "self.model": "tf_robot2"}
    assert {one.ours.split(",")[0] for one in report.advice} == {
        "tf.crba(tf_robot",
        "tf.crba(tf_robot2",
        "tf.bias(tf_robot",
    }


def test_tables_name_functions_that_exist():
    for known in [*KNOWN.values(), *ATTRIBUTES.values()]:
        one = tf
        for name in filter(None, known.ours.split(".")):
            if name == "pinocchio_":
                pytest.importorskip("treefactor.adapters.pinocchio_", exc_type=tf.AdapterError)
            one = getattr(one, name)
    for row in TOGETHER:
        assert all(part in QUANTITIES or part in ("linalg", "step") for part in row.parts)
    assert len(KNOWN) > 120
    assert re.fullmatch(r"tf\.\w+", KNOWN["crba"].name)
