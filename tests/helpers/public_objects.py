"""The public classes, and an object with data of each."""

import inspect
import pickle
from importlib import import_module
from pathlib import Path

import numpy as np
from scipy.sparse import csc_matrix

import treefactor as tf
from helpers.dynamics_cases import MODELS, arguments
from helpers.reachable import REACHABLE
from helpers.reference import LISTED
from helpers.strategies import spd_matrix
from treefactor import (
    arms,
    bench,
    check,
    constraints,
    control,
    fclib,
    flexible,
    flexible_chain,
    identification,
    mechanisms,
    robots,
)
from treefactor.bench import scaling
from treefactor.codegen import CudaKernels, Verdict
from treefactor.mlcp.families import Legged

MODEL = MODELS["freeflyer"]
TREE = MODEL.tree
PROGRAM = tf.generate(MODEL, ["crba", "aba"], variants=["plain"])
LINKAGE = mechanisms.five_bar()
PROBLEM = Legged(20, 0).problem(40)


def standing():
    """Return a box on the ground, with friction."""
    body = tf.Inertia(2.0, tensor=0.02 * np.eye(3))
    model = tf.Model([tf.Joint("box", "freeflyer", inertia=body)])
    contacts = [constraints.Contact(corner, mu=0.6) for corner in constraints.box(0, (0.4, 0.3, 0.2))]
    return constraints.Stepper(model, contacts, h=0.01)


FALL = standing().run([0, 0, 0.11, 0, 0, 0, 1], [0.5, 0, 0, 0, 1, 0], 4)
MAXIMAL = constraints.MaximalCoordinates.from_model(LINKAGE.model)
BEAM = flexible_chain.FlexibleLink.beam("beam", [0, 0, 1], 2.0, 3.0, 100.0)
CAUSE = check.Cause("inertia", "recomputes tensors from collision shapes", ("arm",), 0.1)
CELL = check.Cell("arm", "fixed", "pybullet", "H", check.EXPLAINED, 1e-15, 1e-13, 0.1, (CAUSE,))
CHECKED = check.CheckedRobot("arm", "fixed", "arm.urdf", "urdf", "", 1)

FIT = tf.Identification(MODEL, columns=("inertia", "viscous"))
_rng = np.random.default_rng(0)
FIT.add(tf.random_configuration(MODEL, _rng, size=(30,)), *_rng.normal(size=(3, 30, MODEL.nv)))
HINGE = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], lower=-1.0, upper=1.0)])
LOAD = identification.PayloadIdentification(HINGE, 0)
LOAD.add([0.3], [0.1], [0.2], [1.0])
BOX = tf.Inertia(1.0, tensor=0.1 * np.eye(3)).parameters
ARM = tf.Model([tf.Joint("arm", "revolute", axis=[0, 1, 0], inertia=tf.Inertia(1.0, [0, 0, 1], np.eye(3)))])
TIMES = 0.01 * np.arange(300)
MEASURED = identification.Measurements.of(ARM, TIMES, np.sin(TIMES**2)[:, None], np.ones((300, 1)), cutoff=10)
MEASURED_FIT = identification.fit_measurements(ARM, MEASURED, ("inertia", "armature"), physical=True)

OBJECTS = {  # by the names of the API reference
    "identification.BaseParameters": tf.base_parameters(MODEL),
    "BoundFactor": tf.BoundFactor(np.eye(2), tf.Tree([-1, 0])),
    "Factor": tf.factor(spd_matrix(TREE, 1), TREE),
    "Identification": FIT,
    "Inertia": MODEL.joints[0].inertia,
    "Inertias": tf.Inertias(MODEL, MODEL.parameters),
    "Joint": MODEL.joints[0],
    "Kernels": tf.compile(PROGRAM),
    "Kinematics": tf.Kinematics(MODEL, placements=["j0"], jacobians=[("j1", "WORLD", "packed")]),
    "Loop": LINKAGE.model.loops[0],
    "Frame": tf.Frame("tool", 0, p=[0, 0, 0.1]),
    "Mimic": tf.Mimic(0, 2.0, 1.0),
    "Model": LINKAGE.model,
    "OperationalSpace": tf.OperationalSpace(tf.factor(spd_matrix(TREE, 1), TREE), np.eye(TREE.n)[:2]),
    "OperationCount": TREE.cost("LTDL"),
    "Program": PROGRAM,
    "Tree": TREE,
    "model.arms.Arm": arms.SSRMS,
    "bench.Call": bench.Call(len),
    "bench.Comparison": bench.Comparison("S", "model", "what", "peer", bench.Call(len), bench.Call(sum)),
    "bench.Result": bench.Result("S", "model", "what", "peer", 1.0, 2.0, 2.0, 1.9, 2.1, None),
    "check.Base": check.Base(pose="wxyz p"),
    "check.Cause": CAUSE,
    "check.Cell": CELL,
    "check.CheckedRobot": CHECKED,
    "check.ChosenEngine": check.ChosenEngine("pybullet", timeout=10.0),
    "check.ContactCheck": check.ContactCheck("robot", 1.0, 0.3, ()),
    "check.ContactRow": check.ContactRow("mujoco", "height", "mm", 1.0, 1.0, 0.02, "agrees"),
    "check.DerivativeRow": check.DerivativeRow("robot", "fixed", "engine", errors={"dtau_dq": 1e-15}),
    "check.EngineJoint": check.EngineJoint("arm", "revolute", -1, slice(0, 1), slice(0, 1)),
    "check.Matrix": check.Matrix(
        [robots.Robot("name", Path("name.urdf"))], [check.ChosenEngine("treefactor")]
    ),
    "check.Report": check.Report({"schema": 1}, [check.UsedEngine("pybullet")], [CHECKED], ["H"], [CELL]),
    "check.SelfCheck": check.self_check(np.eye(2), tf.Tree([-1, 0])),
    "check.UsedEngine": check.UsedEngine("pybullet", "3.2.7"),
    "codegen.CudaKernels": CudaKernels(PROGRAM, {"crba": "its PTX", "aba": "its PTX"}),
    "codegen.Function": PROGRAM.functions["crba"],
    "codegen.ParameterKernels": tf.compile(MODEL, ["crba", "aba"], parameters="base"),
    "codegen.Verdict": Verdict("crba", "plain", 1, 0.0, None, None),
    "constraints.BodyJoint": MAXIMAL.joints[0],
    "constraints.BodyStates": MAXIMAL.states(LINKAGE.closed, np.zeros(LINKAGE.model.nv)),
    "constraints.Box": constraints.Box(0, [0.1, 0.2, 0.3]),
    "constraints.Capsule": constraints.Capsule(0, 0.1, 0.2),
    "constraints.Cone": constraints.Cone(0, 0.1, 0.2),
    "constraints.Cylinder": constraints.Cylinder(0, 0.1, 0.2),
    "constraints.Ellipsoid": constraints.Ellipsoid(0, [0.1, 0.2, 0.3]),
    "constraints.Geometry": constraints.Geometry([constraints.Box(0, [0.1, 0.2, 0.3])], ["box"]),
    "constraints.HeightField": constraints.HeightField(-1, np.zeros((2, 2)), [1.0, 1.0]),
    "constraints.Mesh": constraints.Mesh(0, np.vstack([np.zeros(3), np.eye(3)])),
    "constraints.Contact": constraints.Contact(constraints.Sphere(0, radius=0.1), mu=0.5),
    "constraints.Drive": constraints.Drive(0, [0.1, 0.2, 0.3]),
    "constraints.MaximalCoordinates": MAXIMAL,
    "constraints.MaximalMotion": MAXIMAL.forward_dynamics(LINKAGE.closed, *np.zeros((2, LINKAGE.model.nv))),
    "constraints.Plane": constraints.Plane(),
    "constraints.RigidContact": constraints.RigidContact("hand", "6D"),
    "constraints.Rows": constraints.loop_rows(LINKAGE.model, LINKAGE.closed),
    "constraints.Sphere": constraints.Sphere(0, radius=0.1),
    "constraints.Step": FALL.steps[-1],
    "constraints.Stepper": standing(),
    "constraints.Trajectory": FALL,
    "mlcp.fclib.Contacts": fclib.Contacts(
        *(csc_matrix(PROBLEM.H), csc_matrix(PROBLEM.D.T), PROBLEM.g, PROBLEM.d, np.ones(PROBLEM.m // 2))
    ),
    "dynamics.flexible.ModeMoments": flexible.ModeMoments(np.ones((1, 1, 3, 3)), np.ones((1, 1, 1, 3))),
    "dynamics.flexible.Modes": flexible.Modes(*(np.ones((1, 1, 3)) for _ in range(5))),
    "dynamics.flexible_chain.FlexibleChain": flexible_chain.FlexibleChain([BEAM]),
    "dynamics.flexible_chain.FlexibleLink": BEAM,
    "bench.scaling.Growth": scaling.Growth("chain", TREE, np.ones(3), 1),
    "identification.Direction": identification.Direction(1e-6, "m of a - m of b"),
    "identification.Estimate": FIT.solve(),
    "identification.PhysicalEstimate": FIT.physical(),
    "identification.Residuals": FIT.residuals(FIT.solve()),
    "identification.ExcitingMotion": identification.ExcitingMotion(HINGE, np.zeros((1, 5)), 2.0, 1.0),
    "identification.TorqueDelay": identification.torque_delay(np.eye(30), np.eye(30), 0.1),
    "identification.Payload": LOAD.solve(),
    "identification.PayloadIdentification": LOAD,
    "identification.PhysicalFit": identification.fit_physical(np.eye(2), np.eye(10)[:1], [BOX]),
    "identification.FittedParameter": MEASURED_FIT.parameters[0],
    "identification.JointResidual": MEASURED_FIT.joints[0],
    "identification.MeasuredFit": MEASURED_FIT,
    "identification.Measurements": MEASURED,
    "model.mechanisms.Mechanism": LINKAGE,
    "mlcp.Problem": PROBLEM,
    "mlcp.Sensitivity": tf.mlcp.sensitivity(tf.mlcp.solve(PROBLEM)),
    "mlcp.SensitivityStatus": tf.mlcp.SensitivityStatus.STRICT,
    "mlcp.Solution": tf.mlcp.solve(PROBLEM),
    "mlcp.Status": tf.mlcp.Status.SOLVED,
    "mlcp.families.Legged": Legged(20, 0),
    "check.robots.Robot": robots.Robot("name", Path("name.urdf")),
}


def classes() -> dict[str, type]:
    """Return public classes by name, without protocols and those of adapters whose engine is missing."""
    names: dict[type, str] = {}
    for name in dict.fromkeys([*REACHABLE, *LISTED, "codegen"]):
        thing = _found(name)
        for inner in _public(thing) if inspect.ismodule(thing) else [""]:
            part = getattr(thing, inner) if inner else thing
            if inspect.isclass(part) and not getattr(part, "_is_protocol", False):
                names.setdefault(part, f"{name}.{inner}".strip("."))
    return {name: part for part, name in names.items()}


def _found(name: str):
    """Return the object of a name in treefactor; None for an adapter whose engine is missing."""
    owner, _, last = f"treefactor.{name}".rpartition(".")
    try:
        if hasattr(import_module(owner), last):
            return getattr(import_module(owner), last)
        return import_module(f"treefactor.{name}")
    except tf.AdapterError:
        return None


def _public(module) -> list[str]:
    own = [name for name, x in vars(module).items() if getattr(x, "__module__", "") == module.__name__]
    return list(getattr(module, "__all__", [name for name in own if not name.startswith("_")]))


def fresh(thing):
    """Return an equal object that has not yet computed the attributes it computes on first use."""
    return pickle.loads(pickle.dumps(thing))


def of_tree(tree, k):
    H = spd_matrix(tree, k % 5, (3,))
    return [tree.order, tree.columns, tree.mask(), tf.solve(H, tree, np.ones(tree.n)), tree.pack(H), tree.D2]


def of_model(model, k):
    q, v, x, fext = arguments(model, k % 5, (3,))
    H = tf.crba(model, q)
    return [H, tf.rnea(model, q, v, x, fext), tf.forward_dynamics(model, q, v, x), tf.integrate(model, q, v)]


def of_factor(factor, k):
    b = np.random.default_rng(k % 5).normal(size=factor.tree.n)
    return [factor.solve(b), factor.multiply_l(b), factor.inverse(), factor.logdet(), factor.L()]


def of_program(program, k):
    return of_kernels(tf.compile(program, ["crba", "aba"]), k)


def of_kernels(kernels, k):
    q, v, x, _ = arguments(MODEL, k % 5, (3,))
    return [kernels.crba(q), kernels.aba(q, v, x), kernels.aba(q[0], v[0], x[0])]


def of_parameter_kernels(kernels, k):
    q, v, x, _ = arguments(MODEL, k % 5, (3,))
    pi = kernels.program.parameters()
    return [kernels.crba(q, pi), kernels.aba(q, v, x, pi), kernels.aba(q[0], v[0], x[0], pi)]


def of_mechanism(mechanism, k):
    """Compute loop rows, and dynamics with closed loops."""
    model, rng = mechanism.model, np.random.default_rng(k % 5)
    q = np.array([mechanism.random(rng) for _ in range(9)])
    v, tau = rng.normal(size=(2, 9, model.nv))
    rows = constraints.loop_rows(model, q, v)
    batch, single = (constraints.forward_dynamics(model, q[at], v[at], tau[at]) for at in (..., 0))
    return [rows.residual, rows.dense(), *batch, *single, constraints.close(model, q[0] + 0.01)]


def of_problem(problem, k):
    solution = tf.mlcp.solve(problem, method=("auto", "simplex")[k % 5 % 2])
    return [problem.H, problem.D.toarray(), *of_solution(solution, k)]


def of_solution(solution, _):
    again = tf.mlcp.solve(solution.problem, warm_start=solution)
    kept = [solution.v, solution.gamma, solution.residual(), solution.complementarity()]
    return [*kept, again.v, again.gamma, again.factorizations]


def of_stepper(stepper, k):
    """Change an object, for one thread."""
    fall = stepper.run([0, 0, 0.1 + 0.01 * (k % 5), 0, 0, 0, 1], [0.5, 0, 0, 0, 1, 0], 6)
    return [fall.q, fall.v, fall.steps[-1].impulse]


def of_contact(contact, _):
    ball = tf.Joint("ball", "freeflyer", inertia=tf.Inertia(1.0, tensor=0.004 * np.eye(3)))
    return [
        constraints.Stepper(tf.Model([ball]), [contact], h=0.01).step([0, 0, 0.1, 0, 0, 0, 1], np.ones(6)).v
    ]


USES = {  # of an object and a number: what it computes
    "Factor": of_factor,
    "Kernels": of_kernels,
    "Program": of_program,
    "Tree": of_tree,
    "codegen.ParameterKernels": of_parameter_kernels,
    "constraints.Contact": of_contact,
    "model.mechanisms.Mechanism": of_mechanism,
    "mlcp.Problem": of_problem,
    "mlcp.Solution": of_solution,
}


SENT = {name: OBJECTS[name] for name in [*USES, "constraints.Stepper"]}  # to other processes


def computed(sent):
    """Return results of another process for these objects, with threads of its own."""
    arrays = [array for name, thing in sent.items() for array in USES.get(name, of_stepper)(thing, 1)]
    q, v = np.broadcast_to(tf.neutral(MODEL), (4000, MODEL.nq)), np.ones((4000, MODEL.nv))
    arrays.append(tf.forward_dynamics(MODEL, q, v, v, num_threads=2))
    return [np.asarray(array).tobytes() for array in arrays]


HINGE = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=tf.Inertia(1.0, [0, 0, -1.0]))])
EFFORT = control.ControlCost(weight=0.1)
ARM = tf.Model([tf.Joint("arm", "revolute", axis=[0, 0, 1])]).add_frame("tip", "arm", p=[1, 0, 0])
SAMPLING = control.SamplingController(HINGE, EFFORT, horizon=3, dt=0.01, knots=2, samples=9, noise=1.0)
OBJECTS |= {
    "control.InverseKinematics": control.InverseKinematics(ARM, "tip"),
    "control.IKResult": control.inverse_kinematics(ARM, [0.6, 0.8, 0.0], "tip"),
    "control.FrameTask": control.FrameTask("tip", [0.6, 0.8, 0.0]),
    "control.RelativeFrameTask": control.RelativeFrameTask("tip", [0.6, 0.8, 0.0]),
    "control.ComTask": control.ComTask([0.0, 0.0, 0.0]),
    "control.PostureTask": control.PostureTask([0.0]),
    "control.Progress": control.Progress(1, np.ones(2), np.ones(2, dtype=bool)),
    "control.Status": control.Status.SOLVED,
    "control.StateCost": control.StateCost([0.0]),
    "control.ControlCost": EFFORT,
    "control.FrameCost": control.FrameCost("hinge", np.eye(3, 4)),
    "control.FrameVelocityCost": control.FrameVelocityCost("hinge"),
    "control.ComCost": control.ComCost(np.zeros(3)),
    "control.LimitCost": control.LimitCost(),
    "control.CustomCost": control.CustomCost(of_tree, of_model),
    "control.ILQRResult": control.ilqr(HINGE, [0.1], [0.0], np.zeros((3, 1)), EFFORT, 0.01),
    "control.ILQRStatus": control.ILQRStatus.CONVERGED,
    "control.SamplingController": SAMPLING,
    "control.SamplingResult": SAMPLING.plan([0.1], [0.0]),
    "control.SamplingStatus": control.SamplingStatus.UPDATED,
    "control.SampledMotions": control.SampledMotions(HINGE, *np.zeros((2, 3, 4, 1)), np.arange(4.0), of_tree),
    "control.ILQRProgress": control.ILQRProgress(1, np.ones(2), np.ones(2, dtype=bool)),
}
