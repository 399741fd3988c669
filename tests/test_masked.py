"""Every function that takes arrays refuses masked ones, because NumPy would drop the mask."""

import inspect
from functools import partial

import numpy as np
import pytest
from helpers.declared import cases
from helpers.public_objects import ARM, FIT, LINKAGE, MODEL, OBJECTS, PROBLEM, TREE, standing
from helpers.reachable import REACHABLE
from helpers.strategies import spd_matrix

import treefactor as tf
from treefactor import arms, constraints, fclib, flexible, identification, mlcp
from treefactor.constraints import Contact, Plane, Sphere, Stepper, box
from treefactor.exceptions import DtypeError, InvalidModelError
from treefactor.papers import kkt

Q, V = tf.neutral(MODEL), np.zeros(MODEL.nv)
BARS, CLOSED, RATES = LINKAGE.model, LINKAGE.closed, np.zeros(LINKAGE.model.nv)
H, B = spd_matrix(TREE, 1), np.ones(TREE.n)
HS, BS = np.stack([H, H]), np.stack([B, B])
FACTOR, BASE = tf.factor(H, TREE), OBJECTS["identification.BaseParameters"]
HINGE, BODY = OBJECTS["identification.ExcitingMotion"].model, MODEL.joints[0].inertia.parameters
EYE, ONES, X, Z = np.eye(2), np.ones(2), np.eye(3)[0], np.eye(3)[2]
AXES, LINKS, MASSES = np.array([Z, X]), np.ones((2, 3)), np.ones(2)
TENSORS = np.stack([np.eye(3), np.eye(3)])
KERNELS, STEPPER, PAIR = OBJECTS["Kernels"], standing(), tf.Tree([-1, 0])
STATE = np.array([0.0, 0, 1, 0, 0, 0, 1]), np.zeros(6), np.zeros(6)
CONTACTS = OBJECTS["mlcp.fclib.Contacts"]
OUT = np.empty((MODEL.nv, MODEL.nv))
INERTIAS = tf.Inertias(MODEL, MODEL.parameters[None])
FORCES = np.zeros((MODEL.njoints, 6))
DECLARED = cases({"freeflyer": MODEL}, lambda case: case.is_plain and case.configurations, undeclared=True)[
    "argvalues"
]


def positional(case, *arrays):
    """Call the function of a case with arrays in the order of its declaration."""
    return case.call(dict(zip(case.names, arrays, strict=True)))


CASES = {  # functions of arrays, and arrays that they accept; by the name of what is public
    "operational_space": (lambda q: tf.operational_space(MODEL, q, "j0", damping=1.0), Q),
    "OperationalSpace": (lambda J: tf.OperationalSpace(FACTOR, J), BS[:1]),
    "random_configuration": (lambda low, high: tf.random_configuration(MODEL, 1, low, high), Q - 1, Q + 1),
    "Identification.add": (
        lambda q, v, a, tau: tf.Identification(MODEL).add(q, v, a, tau),
        *(Q, V, V, V),
    ),
    "Estimate.predict": (FIT.solve().predict, Q, V, V),
    "identification.slow_rows": (identification.slow_rows, EYE),
    "identification.torque_delay": (
        lambda tau, predicted: identification.torque_delay(tau, predicted, 0.1),
        *(np.eye(3), np.eye(3)),
    ),
    "BaseParameters.values": (BASE.values, np.ones(len(BASE.columns))),
    "identification.directions_not_excited": (
        lambda R: identification.directions_not_excited(R, ("a", "b")),
        np.eye(2),
    ),
    "identification.fit_physical": (identification.fit_physical, np.eye(2), np.eye(10)[:1], BODY[None]),
    "identification.identify_payload": (
        lambda q, v, a, tau: identification.identify_payload(MODEL, 0, q, v, a, tau),
        *(Q, V, V, V),
    ),
    "identification.exciting_motion": (
        lambda low, high, speed: identification.exciting_motion(
            HINGE, tf.base_parameters(HINGE), 1.0, 2, low, high, speed, iterations=0
        ),
        *(-np.ones(1), np.ones(1), np.ones(1)),
    ),
    "ExcitingMotion.at": (OBJECTS["identification.ExcitingMotion"].at, np.zeros(3)),
    "identification.log_cholesky_gradient": (identification.log_cholesky_gradient, BODY, BODY),
    "identification.Measurements.of": (
        lambda t, q, tau, v, a: identification.Measurements.of(ARM, t, q, tau, v, a, cutoff=0),
        *(np.arange(9.0), *np.zeros((4, 9, 1))),
    ),
    "bind": (lambda q, out: tf.bind(tf.crba, MODEL, q, out=out)(), Q, OUT),
    "factor": (lambda H, shift: tf.factor(H, TREE, shift=shift), H, B),
    "factor of a batch": (lambda H: tf.factor(H, TREE), HS),
    "solve": (lambda H, b, shift, out: tf.solve(H, TREE, b, shift=shift, out=out), H, B, B, B.copy()),
    "solve a batch": (lambda H, b: tf.solve(H, TREE, b), HS, BS),
    "damped_least_squares": (
        lambda J, e, damping, out: tf.damped_least_squares(J, e, damping, out),
        *(np.ones((2, 3)), ONES, np.array(1.0), np.empty(3)),
    ),
    "from_lanes": (tf.from_lanes, np.ones((2, 3, 8))),
    "to_lanes": (tf.to_lanes, np.ones((5, 3))),
    "multiply": (lambda H, x: tf.multiply(H, TREE, x), H, B),
    "Factor.solve": (lambda b, out: FACTOR.solve(b, out), B, B.copy()),
    "Factor.refactor": (lambda H: tf.factor(H, TREE).refactor(H), H),
    "Factor.quadratic": (FACTOR.quadratic, B),
    "Factor.delassus": (FACTOR.delassus, BS),
    "Factor.from_ld": (lambda L, D: tf.Factor.from_ld(L, D, TREE), FACTOR.L(), FACTOR.D()),
    "Factor.inverse": (FACTOR.inverse, H.copy()),
    "BoundFactor": (lambda H: tf.BoundFactor(H, TREE), H),
    "Tree": (tf.Tree, np.array([-1, 0])),
    "Tree.from_joints": (tf.Tree.from_joints, np.array([-1, 0]), np.array([1, 2])),
    "Tree.pack": (TREE.pack, H),
    "Tree.unpack": (TREE.unpack, TREE.pack(H)),
    "Inertia": (lambda com, tensor: tf.Inertia(1.0, com, tensor), X, np.eye(3)),
    "Inertia.from_parameters": (tf.Inertia.from_parameters, MODEL.parameters[0]),
    "Model.with_parameters": (MODEL.with_parameters, MODEL.parameters, MODEL.armature),
    "Inertias": (
        lambda pi, armature, which: tf.Inertias(MODEL, pi, armature, which),
        *(MODEL.parameters[None], MODEL.armature, np.zeros(3, int)),
    ),
    "Inertias.set": (lambda rows, pi: INERTIAS.set(rows, 1, pi), np.zeros(1, int), MODEL.parameters[0]),
    "Inertias.scale": (lambda factor: INERTIAS.scale(None, None, factor), np.ones(MODEL.njoints)),
    "Inertias.add": (lambda payload: INERTIAS.add(0, 1, payload), MODEL.parameters[0]),
    "Joint": (lambda R, p, axis: tf.Joint("j", "revolute", -1, R, p, axis), np.eye(3), X, Z),
    "Joint limits": (
        lambda low, high, armature: tf.Joint(
            "j", "prismatic", axis=Z, lower=low, upper=high, armature=armature
        ),
        *(np.zeros(1), np.ones(1), np.ones(1)),
    ),
    "Loop": (lambda p: tf.Loop("l", "spherical", 0, 1, p1=p), X),
    "Model": (lambda gravity: tf.Model(MODEL.joints, gravity), Z),
    "chain_inertia": (tf.chain_inertia, AXES, LINKS, MASSES, LINKS, TENSORS, np.zeros(2, dtype=bool)),
    "chain_forces": (tf.chain_forces, AXES, LINKS, MASSES, LINKS, TENSORS, MASSES, LINKS, LINKS),
    "dynamics.flexible.of_points": (
        lambda points, masses, shapes: flexible.of_points(points, masses, shapes, X, X),
        *(np.ones((1, 2, 3)), np.ones((1, 2)), np.ones((1, 1, 2, 3))),
    ),
    "Kernels.crba": (KERNELS.crba, Q, OUT),
    "Kernels.aba": (KERNELS.aba, Q, V, V),
    "Kernels.bind": (lambda q, out: KERNELS.bind("crba", q, out=out)(), Q, OUT),
    "Program.parameters": (
        OBJECTS["codegen.ParameterKernels"].program.parameters,
        *(np.zeros((MODEL.njoints, 10)), np.zeros(MODEL.nv)),
    ),
    "constraints.loop_rows": (lambda q, v: constraints.loop_rows(BARS, q, v), CLOSED, RATES),
    "constraints.forward_dynamics": (
        lambda q, v, tau: constraints.forward_dynamics(BARS, q, v, tau),
        *(CLOSED, RATES, RATES),
    ),
    "constraints.forward_dynamics_derivatives": (
        lambda q, v, tau: constraints.forward_dynamics_derivatives(BARS, q, v, tau),
        *(CLOSED, RATES, RATES),
    ),
    "constraints.close": (lambda q: constraints.close(BARS, q), CLOSED),
    "constraints.contacts_of": (
        lambda q: constraints.contacts_of(MODEL, constraints.Geometry([Sphere(0)]), reference=q),
        Q,
    ),
    "constraints.bounding_boxes": (lambda q: constraints.bounding_boxes(MODEL, [Sphere(0)], q), Q),
    "constraints.shape_placements": (lambda q: constraints.shape_placements(MODEL, [Sphere(0)], q), Q),
    "constraints.contact_points": (
        lambda placed: constraints.contact_points(Plane(), Sphere(0), None, placed),
        np.eye(3, 4),
    ),
    "constraints.box": (lambda size, center: box(0, size, center), X + 1, X),
    "constraints.Sphere": (lambda center: Sphere(0, center), X),
    "constraints.Plane": (lambda normal, point: Plane(0, normal, point), Z, X),
    "constraints.Contact": (lambda mu: Contact(Sphere(0), mu=mu), np.array(0.5)),
    "constraints.Stepper": (lambda h: Stepper(BARS, h=h), np.array(1e-3)),
    "Stepper.step": (STEPPER.step, *STATE),
    "Stepper.run": (lambda q, v, tau: STEPPER.run(q, v, 2, tau), *STATE),
    "model.mechanisms.Mechanism.close": (LINKAGE.close, np.array(LINKAGE.rest)),
    "mlcp.Problem": (
        lambda H, g, C, c, D, d, upper: mlcp.Problem(H, PAIR, g, C, c, D, d, upper),
        *(EYE, ONES, EYE[:1], ONES[:1], EYE, -ONES, ONES),
    ),
    "mlcp.solve": (lambda k: mlcp.solve(PROBLEM, max_iter=k), np.array(100)),
    "Sensitivity.jvp": (OBJECTS["mlcp.Sensitivity"].jvp, np.ones(PROBLEM.n)),
    "Sensitivity.vjp": (OBJECTS["mlcp.Sensitivity"].vjp, np.ones(PROBLEM.n)),
    "Stepper.derivatives": (STEPPER.derivatives, *STATE),
    "mlcp.fclib.Contacts": (
        lambda f, w, mu: fclib.Contacts(CONTACTS.M, CONTACTS.H, f, w, mu),
        CONTACTS.f,
        CONTACTS.w,
        CONTACTS.mu,
    ),
    "KKT": (lambda H, J: kkt.KKT(PAIR, H, J), np.array([2.0, 0.5, 2.0]), EYE),
    "KKT.solve": (kkt.KKT(PAIR, np.array([2.0, 0.5, 2.0]), EYE).solve, ONES, ONES),
    "stream": (lambda v: tf.stream("x.npy", np.negative, v), BS),
    "self_check": (lambda H: tf.check.self_check(H, TREE), H),
}
CASES |= {case.quantity.name: (partial(positional, case), *case.arguments().values()) for case in DECLARED}
CASES |= {"mlcp.Problem of a batch of rows": (lambda D: mlcp.Problem(EYE, PAIR, ONES, D=D, d=-ONES), EYE)}
NO_ARRAYS = {  # public functions
    *("base_parameters", "compile", "generate", "neutral", "show_config"),
    *("constraints.contacts_between",),
}


def masked(values):
    """Return the same array with its first entry masked."""
    array = np.ma.array(values, copy=True)
    array[(0,) * array.ndim] = np.ma.masked
    return array


def test_every_function_that_takes_arrays_is_tried():
    functions = {name for name in REACHABLE if inspect.isroutine(getattr(tf, name))}
    functions |= {
        f"constraints.{name}" for name in constraints.__all__ if inspect.isroutine(getattr(constraints, name))
    }
    assert functions - NO_ARRAYS - set(CASES) == set()


@pytest.mark.parametrize("name", CASES)
def test_masked_arrays_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, *arrays = CASES[name]
    function(*arrays)  # as they are they are accepted
    why = "MaskedArray" if "bind" in name else "masked array"
    for k, array in enumerate(arrays):
        for odd in (masked(array), np.ma.array(array)):
            with pytest.raises((DtypeError, InvalidModelError, ValueError), match=why):
                function(*arrays[:k], odd, *arrays[k + 1 :])


@pytest.mark.parametrize(
    "b",
    [
        [masked(B), B],
        [B.tolist(), masked(B)],
        (masked(B), masked(B)),
        [[np.ma.masked, *B[1:]], B.tolist()],
        [[[np.ma.masked]] * TREE.n],
    ],
    ids=["first", "last", "tuple", "one entry", "deep"],
)
def test_lists_of_masked_arrays_are_refused(b):
    with pytest.raises(DtypeError, match="b is a masked array"):
        tf.solve(HS, TREE, b)


def test_results_that_are_masked_are_not_written(tmp_path):
    with pytest.raises(DtypeError, match="the function's result is a masked array"):
        tf.stream(tmp_path / "x.npy", masked, BS)
    assert list(tmp_path.iterdir()) == []


def test_arms_are_not_masked():
    arm = arms.SSRMS
    with pytest.raises(DtypeError, match="masked array"):
        arms.Arm(
            *(
                masked(getattr(arm, name)) if name == "mass" else getattr(arm, name)
                for name in arm.__dataclass_fields__
            )
        )
