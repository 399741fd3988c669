"""Every function that takes arrays refuses masked ones, because NumPy would drop the mask."""

import inspect

import numpy as np
import pytest
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
CASES = {  # functions of arrays, and arrays that they accept; by the name of what is public
    "crba": (lambda q, out: tf.crba(MODEL, q, out), Q, OUT),
    "rnea": (lambda q, v, a, fext: tf.rnea(MODEL, q, v, a, fext), Q, V, V, np.zeros((MODEL.njoints, 6))),
    "regressor": (lambda q, v, a: tf.regressor(MODEL, q, v, a), Q, V, V),
    "regressor_transpose_times": (
        lambda *arrays: tf.regressor_transpose_times(MODEL, *arrays),
        *(Q, V, V, V),
    ),
    "center_of_mass_regressor": (lambda q: tf.center_of_mass_regressor(MODEL, q), Q),
    "gravity_regressor": (lambda q: tf.gravity_regressor(MODEL, q), Q),
    "momentum_regressor": (lambda q, v: tf.momentum_regressor(MODEL, q, v), Q, V),
    "kinetic_energy_regressor": (lambda q, v: tf.kinetic_energy_regressor(MODEL, q, v), Q, V),
    "potential_energy_regressor": (lambda q: tf.potential_energy_regressor(MODEL, q), Q),
    "rnea_derivatives": (
        lambda q, v, a, f: tf.rnea_derivatives(MODEL, q, v, a, f),
        Q,
        V,
        V,
        np.zeros((MODEL.njoints, 6)),
    ),
    "forward_dynamics_derivatives": (
        lambda q, v, tau, f: tf.forward_dynamics_derivatives(MODEL, q, v, tau, f),
        Q,
        V,
        V,
        np.zeros((MODEL.njoints, 6)),
    ),
    "joint_forces": (
        lambda q, v, a, f: tf.joint_forces(MODEL, q, v, a, f),
        Q,
        V,
        V,
        np.zeros((MODEL.njoints, 6)),
    ),
    "base_force": (
        lambda q, v, a, f: tf.base_force(MODEL, q, v, a, f),
        Q,
        V,
        V,
        np.zeros((MODEL.njoints, 6)),
    ),
    "generalized_gravity": (lambda q, out: tf.generalized_gravity(MODEL, q, out), Q, V.copy()),
    "static_torque": (
        lambda q, f, out: tf.static_torque(MODEL, q, f, out),
        Q,
        np.zeros((MODEL.njoints, 6)),
        V.copy(),
    ),
    "kinetic_energy": (lambda q, v: tf.kinetic_energy(MODEL, q, v), Q, V),
    "potential_energy": (lambda q: tf.potential_energy(MODEL, q), Q),
    "mechanical_energy": (lambda q, v: tf.mechanical_energy(MODEL, q, v), Q, V),
    "coriolis_matrix": (lambda q, v, out: tf.coriolis_matrix(MODEL, q, v, out), Q, V, OUT),
    "inverse_inertia": (lambda q, out: tf.inverse_inertia(MODEL, q, out), Q, OUT),
    "bias": (lambda q, v, out: tf.bias(MODEL, q, v, out=out), Q, V, V.copy()),
    "aba": (lambda q, v, tau: tf.aba(MODEL, q, v, tau), Q, V, V),
    "forward_dynamics": (lambda q, v, tau: tf.forward_dynamics(MODEL, q, v, tau), Q, V, V),
    "rnea_hvp": (lambda *arrays: tf.rnea_hvp(MODEL, *arrays), Q, V, V, V, V, V, V, V, FORCES),
    "rnea_hessian": (lambda *arrays: tf.rnea_hessian(MODEL, *arrays), Q, V, V, V, FORCES),
    "forward_dynamics_hvp": (
        lambda *arrays: tf.forward_dynamics_hvp(MODEL, *arrays),
        *(Q, V, V, V, V, V, V, V, FORCES),
    ),
    "forward_dynamics_hessian": (
        lambda *arrays: tf.forward_dynamics_hessian(MODEL, *arrays),
        *(Q, V, V, V, FORCES),
    ),
    "rnea_jvp": (lambda *arrays: tf.rnea_jvp(MODEL, *arrays), Q, V, V, V, V, V, FORCES, FORCES),
    "rnea_vjp": (lambda *arrays: tf.rnea_vjp(MODEL, *arrays), Q, V, V, V, FORCES),
    "forward_dynamics_jvp": (
        lambda *arrays: tf.forward_dynamics_jvp(MODEL, *arrays),
        *(Q, V, V, V, V, V, FORCES, FORCES),
    ),
    "forward_dynamics_vjp": (lambda *arrays: tf.forward_dynamics_vjp(MODEL, *arrays), Q, V, V, V, FORCES),
    "step": (
        lambda q, v, tau, q1, v1: tf.step(MODEL, q, v, tau, 0.1, out=(q1, v1)),
        *(Q, V, V, Q.copy(), V.copy()),
    ),
    "rollout": (
        lambda q, v, tau, fext: tf.rollout(MODEL, q, v, tau, 0.1, 3, fext=fext),
        *(Q, V, V, np.zeros((MODEL.njoints, 6))),
    ),
    "h_times": (lambda q, x: tf.h_times(MODEL, q, x), Q, V),
    "operational_space": (lambda q: tf.operational_space(MODEL, q, "j0", damping=1.0), Q),
    "operational_inertia": (
        lambda q, out: tf.operational_inertia(MODEL, q, "j0", damping=1.0, out=out),
        *(Q, np.empty((6, 6))),
    ),
    "delassus": (lambda q, out: tf.delassus(MODEL, q, "j0", out=out), Q, np.empty((6, 6))),
    "operational_bias": (lambda q, v: tf.operational_bias(MODEL, q, v, "j0", damping=1.0), Q, V),
    "task_bias": (lambda q, v: tf.task_bias(MODEL, q, v, "j0"), Q, V),
    "OperationalSpace": (lambda J: tf.OperationalSpace(FACTOR, J), BS[:1]),
    "frame_placement": (
        lambda q, out: tf.frame_placement(MODEL, q, "j1", out=out),
        *(Q, np.empty((3, 4))),
    ),
    "joint_placements": (lambda q: tf.joint_placements(MODEL, q), Q),
    "frame_velocity": (lambda q, v: tf.frame_velocity(MODEL, q, v, "j1"), Q, V),
    "frame_acceleration": (lambda q, v, a: tf.frame_acceleration(MODEL, q, v, a, "j1"), Q, V, V),
    "frame_jacobian": (lambda q: tf.frame_jacobian(MODEL, q, "j1"), Q),
    "joint_jacobian": (lambda q: tf.joint_jacobian(MODEL, q, 1), Q),
    "frame_jacobian_dot": (lambda q, v: tf.frame_jacobian_dot(MODEL, q, v, "j1"), Q, V),
    "Kinematics": (tf.Kinematics(MODEL, velocities=["j1"]), Q, V),
    "integrate": (lambda q, v: tf.integrate(MODEL, q, v), Q, V),
    "difference": (lambda q0, q1: tf.difference(MODEL, q0, q1), Q, Q),
    "interpolate": (lambda q0, q1, u: tf.interpolate(MODEL, q0, q1, u), Q, Q, np.array(0.5)),
    "all_terms": (lambda q, v: tf.all_terms(MODEL, q, v), Q, V),
    "normalize": (lambda q: tf.normalize(MODEL, q), Q),
    "distance": (lambda q0, q1: tf.distance(MODEL, q0, q1), Q, Q),
    "squared_distance": (lambda q0, q1: tf.squared_distance(MODEL, q0, q1), Q, Q),
    "is_same_configuration": (lambda q0, q1: tf.is_same_configuration(MODEL, q0, q1), Q, Q),
    "frame_derivatives": (lambda q, v, a: tf.frame_derivatives(MODEL, q, v, a, "j1"), Q, V, V),
    "com_derivatives": (lambda q, v, a: tf.com_derivatives(MODEL, q, v, a), Q, V, V),
    "centroidal_derivatives": (lambda q, v, a: tf.centroidal_derivatives(MODEL, q, v, a), Q, V, V),
    "integrate_derivatives": (lambda q, v: tf.integrate_derivatives(MODEL, q, v), Q, V),
    "difference_derivatives": (lambda q0, q1: tf.difference_derivatives(MODEL, q0, q1), Q, Q),
    "d_integrate": (lambda q, v: tf.d_integrate(MODEL, q, v, 0), Q, V),
    "d_difference": (lambda q0, q1: tf.d_difference(MODEL, q0, q1, 1), Q, Q),
    "random_configuration": (lambda low, high: tf.random_configuration(MODEL, 1, low, high), Q - 1, Q + 1),
    "center_of_mass": (lambda q, v, a: tf.center_of_mass(MODEL, q, v, a), Q, V, V),
    "center_of_mass_jacobian": (lambda q: tf.center_of_mass_jacobian(MODEL, q), Q),
    "centroidal_map": (lambda q: tf.centroidal_map(MODEL, q), Q),
    "centroidal_map_dot": (lambda q, v: tf.centroidal_map_dot(MODEL, q, v), Q, V),
    "centroidal_momentum": (lambda q, v: tf.centroidal_momentum(MODEL, q, v), Q, V),
    "centroidal_momentum_rate": (lambda q, v, a: tf.centroidal_momentum_rate(MODEL, q, v, a), Q, V, V),
    "centroidal_inertia": (
        lambda q, out: tf.centroidal_inertia(MODEL, q, out=out),
        *(Q, np.empty((3, 3))),
    ),
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
CASES |= {"mlcp.Problem of a batch of rows": (lambda D: mlcp.Problem(EYE, PAIR, ONES, D=D, d=-ONES), EYE)}
NO_ARRAYS = {  # public functions
    *("base_parameters", "compile", "generate", "neutral", "show_config"),
    *("constraints.contacts_between",),
}


def masked(values):
    """Return the same array with its first entry masked."""
    found = np.ma.array(values, copy=True)
    found[(0,) * found.ndim] = np.ma.masked
    return found


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
