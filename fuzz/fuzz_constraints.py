"""Fuzz small models with loops, contacts and limits: calls raise our errors or keep the constraints."""

import atheris
import harness
import numpy as np
from harness import Numbers

import treefactor as tf
from treefactor import constraints
from treefactor.constraints import Contact, Plane, Sphere, Stepper
from treefactor.model.joints import AXES, FOLLOWERS, LOOPS, SIZES

FREELY_LIMITED = ("revolute", "prismatic", "helical", "universal", "translation")
STEPS = 3


def model_of(given, numbers: Numbers) -> tf.Model:
    """Return a model of at most five joints, often with limits, with at most two loops."""
    joints = [joint_of(given, numbers, k) for k in range(given.ConsumeIntInRange(0, 5))]
    loops = []
    for k in range(given.ConsumeIntInRange(-2, 2)):
        first, second = bodies(given, len(joints))
        kind, p1, p2 = given.PickValueInList(list(LOOPS)), numbers.array(3), numbers.array(3)
        loops.append(tf.Loop(f"loop{k}", kind, first, second, p1=p1, p2=p2))
    return tf.Model(joints, numbers.array(3), loops=loops)


def joint_of(given, numbers: Numbers, k: int) -> tf.Joint:
    """Return a joint of any type; some follow others."""
    kind = given.PickValueInList(list(SIZES))
    axis = {0: None, 1: np.eye(3)[given.ConsumeIntInRange(0, 2)], 2: np.eye(3)[:2]}[AXES.get(kind, 0)]
    options = {"armature": given.PickValueInList([0.0, 0.0, 0.5])}
    if kind in FREELY_LIMITED and given.ConsumeBool():
        options |= {"lower": -1.0, "upper": np.abs(numbers.array(1))[0]}
    if kind in FOLLOWERS and k and given.ConsumeProbability() > 0.8:
        options["mimic"] = tf.Mimic(given.ConsumeIntInRange(0, k - 1), *numbers.array(2))
    mass, size = np.abs(numbers.array(2)) + np.array([0.0, 0.01])
    inertia = tf.Inertia(mass, numbers.array(3), size * np.eye(3)) if mass else tf.Inertia()
    parent = k - 1 - min(k, given.ConsumeIntInRange(0, 2))
    return tf.Joint(f"joint{k}", kind, parent, p=numbers.array(3), axis=axis, inertia=inertia, **options)


def bodies(given, count: int) -> tuple[int, int]:
    """Return two different bodies, the base among them; rarely bodies that do not exist."""
    first = given.ConsumeIntInRange(-1, count - (given.ConsumeProbability() < 0.98))
    second = given.ConsumeIntInRange(-1, count - 1)
    return first, second if second != first else first - 1 if first >= 0 else 0


def contacts_of(given, numbers: Numbers, model: tf.Model) -> list[Contact]:
    """Return contacts of spheres with planes and each other."""
    found = []
    for _ in range(given.ConsumeIntInRange(0, 4)):
        a, b = bodies(given, model.njoints)
        sphere, place = Sphere(a, numbers.array(3), *np.abs(numbers.array(1))), numbers.array(3)
        plane = Plane(b, numbers.array(3) + 0.25 * np.eye(3)[2], place)
        other = plane if given.ConsumeBool() else Sphere(b, place, 1.0)
        found.append(Contact(sphere, other, given.PickValueInList([0.0, 0.3, 1.0])))
    return found


def step(given, numbers: Numbers, model: tf.Model, q, v) -> None:
    """Take a few steps in time, and repeat each with another stepper."""
    contacts = contacts_of(given, numbers, model)
    friction = given.PickValueInList(["pyramid", "box"])
    options = {
        "h": given.PickValueInList([1e-2, 1e-3, 0.5, 1e-9, 1e9]),
        "limits": given.ConsumeBool(),
        "stabilization": given.PickValueInList([0.0, 0.2, 1.0]),
        "facets": given.PickValueInList([4, 8]) if friction == "pyramid" else 4,
        "margin": given.PickValueInList([np.inf, 0.0, 1.0]),
        "friction": friction,
    }
    one, other = (Stepper(model, contacts, **options) for _ in range(2))
    for _ in range(STEPS):
        tau = numbers.array(model.nv)
        found, again = one.step(q, v, tau), other.step(q, v, tau)
        assert np.array_equal(found.v, again.v)
        assert np.array_equal(found.q, again.q)
        q, v = found.q, found.v
        assert np.isfinite(q).all()
        assert np.isfinite(v).all()
        if friction == "pyramid":
            require_cone(contacts, found)


def require_cone(contacts: list[Contact], found: constraints.Step) -> None:
    """Assert that friction does not exceed what the normal impulses allow."""
    for contact, impulse, gap in zip(contacts, found.impulse, found.gap, strict=True):
        assert np.isfinite(impulse).all()
        size = np.abs(impulse).sum()
        if np.isinf(gap):
            assert size == 0.0
        elif isinstance(contact.against, Plane) and contact.against.body == -1 and size < 1e100:
            normal = impulse @ contact.against.normal
            tangent = np.linalg.norm(impulse - normal * contact.against.normal)
            assert tangent <= contact.mu * normal + 1e-9 * size


def run(data: bytes) -> None:
    """Close the loops of a model, compute its acceleration and take steps."""
    given = atheris.FuzzedDataProvider(data)
    numbers = Numbers(given)
    with np.errstate(all="ignore"):
        model = model_of(given, numbers)
        q, v = tf.neutral(model), numbers.array(model.nv)
        if given.ConsumeBool():
            q = tf.integrate(model, q, numbers.array(model.nv))
        what = given.ConsumeIntInRange(0, 3)
        if what == 0:
            tolerance = given.PickValueInList([1e-12, 1e-6, 0.0])
            closed = constraints.close(model, q, tolerance)
            assert np.abs(constraints.loop_rows(model, closed).residual).max(initial=0.0) <= tolerance
        elif what == 1:
            a, force = constraints.forward_dynamics(model, q, v, numbers.array(model.nv))
            assert numbers.odd or np.isfinite(a).all()
            assert numbers.odd or np.isfinite(force).all()
        else:
            step(given, numbers, model, q, v)


if __name__ == "__main__":
    harness.run(run, [bytes(range(256))], harness.numbers)
