"""Equal models have equal digests, in every process; a change of anything that matters changes them."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import treefactor as tf
from treefactor.model.digests import digest, number_of

INERTIA = tf.Inertia(1.0, [0.0, 0.1, -0.5], np.diag([0.1, 0.1, 0.05]))
JOINTS = (
    tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=INERTIA, lower=-1.0),
    tf.Joint(
        "elbow", "revolute", 0, p=[0, 0, -1], axis=[0, 1, 0], inertia=INERTIA, armature=0.1, body="hand"
    ),
    tf.Joint("screw", "helical", 1, axis=[0, 0, 1], pitch=0.2, inertia=INERTIA),
    tf.Joint("finger", "revolute", 1, axis=[1, 0, 0], mimic=tf.Mimic(2, 0.5, 0.1)),
)
LOOPS = (tf.Loop("ring", "spherical", 0, 2, p1=[0, 0, 0.1]),)


def model(joints=JOINTS, **changes):
    return tf.Model(joints, **{"loops": LOOPS} | changes)


def changed(number, **changes):
    """Return the joints with one of them changed."""
    given = {name: getattr(JOINTS[number], name) for name in JOINTS[number].__dataclass_fields__}
    return (*JOINTS[:number], tf.Joint(**given | changes), *JOINTS[number + 1 :])


@pytest.mark.parametrize(
    "other",
    [
        model(gravity=[0, 0, -1.62]),
        model(loops=()),
        model(loops=(tf.Loop("ring", "spherical", 0, 2, p1=[0, 0, 0.1 + 1e-16]),)),
        model().add_frame("tool", "hand", p=[0, 0, 0.1]),
        model(JOINTS[:3]),
        model(changed(0, inertia=tf.Inertia(np.nextafter(1.0, 2), INERTIA.com, INERTIA.tensor))),
        model(changed(0, inertia=tf.Inertia(1.0, -INERTIA.com, INERTIA.tensor))),
        model(changed(0, inertia=tf.Inertia(1.0, INERTIA.com, 1.5 * INERTIA.tensor))),
        model(changed(0, name="hip")),
        model(changed(0, kind="prismatic")),
        model(changed(0, axis=[0, -1, 0])),
        model(changed(0, p=[0, 1e-300, 0])),
        model(changed(0, R=np.diag([-1.0, -1.0, 1.0]))),
        model(changed(0, lower=-1.1)),
        model(changed(0, upper=2.0)),
        model(changed(1, armature=0.2)),
        model(changed(1, parent=-1)),
        model(changed(1, body="foot")),
        model(changed(2, pitch=0.3)),
        model(changed(3, mimic=tf.Mimic(2, 0.5, 0.2))),
        model(changed(3, mimic=tf.Mimic(2, -0.5, 0.1))),
        model(changed(3, mimic=tf.Mimic(0, 0.5, 0.1))),
        model(changed(3, mimic=None)),
    ],
)
def test_a_change_of_the_model_changes_the_digest(other):
    assert digest(other) != digest(model())


@pytest.mark.parametrize(
    "other",
    [
        model(),
        model(name="arm"),
        model(changed(0, p=[-0.0, 0, 0])),
        model(gravity=[0, 0, -9.81]),
        model(frames=model().frames),
        pickle.loads(pickle.dumps(model())),
        model(changed(1, parent="shoulder")),
        model(changed(3, mimic=tf.Mimic("screw", 0.5, 0.1))),
    ],
)
def test_equal_models_have_equal_digests(other):
    assert digest(other) == digest(model())


def test_the_digest_has_64_bits():
    assert -(2**63) <= digest(model()) < 2**63
    assert int(np.int64(digest(model()))) == digest(model())


def test_the_digest_is_the_same_in_another_process():
    code = (
        "import pickle, sys; from treefactor.model.digests import digest, number_of;"
        "print(digest(pickle.load(sys.stdin.buffer)), number_of('x', (1, None, 2.5)))"
    )
    for seed in ("1", "2"):
        completed = subprocess.run(
            [sys.executable, "-c", code],
            input=pickle.dumps(model()),
            capture_output=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
        assert [int(x) for x in completed.stdout.split()] == [
            digest(model()),
            number_of("x", (1, None, 2.5)),
        ]


def test_only_models_have_digests():
    with pytest.raises(TypeError, match="Model"):
        digest([1.0, 2.0])


def test_contents_that_differ_have_numbers_that_differ():
    contents = [
        (),
        (None,),
        ("",),
        ("", ""),
        ("a", "b"),
        ("ab",),
        (("a",), "b"),
        (("a", "b"),),
        (1,),
        (1.5,),
        (2**53 + 2,),
        (2**53 + 4,),
        (2**80,),
        (np.zeros(2),),
        (np.zeros((2, 1)),),
        (np.zeros((1, 2)),),
        (0.0, 0.0),
        (True,) * 2,
        (tf.Mimic(1),),
        ({},),
        ({"a": 1},),
        ({"a": 1, "b": 2},),
        ((("a", 1),),),
    ]
    assert len({number_of(*content) for content in contents}) == len(contents)


def test_numbers_are_equal_where_the_contents_are():
    assert number_of(1, -0.0, [2]) == number_of(1.0, 0, (np.float32(2),))
    assert number_of(np.arange(3)) == number_of(np.arange(3.0))


def test_other_objects_have_no_number():
    with pytest.raises(TypeError, match="got an object of type set"):
        number_of({1.0})
