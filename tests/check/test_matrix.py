"""Test the matrix robot x base x engine x quantity x sample of the cross-validation."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from treefactor import AdapterError, check, robots, tolerances

pytest.importorskip("pinocchio", reason="Pinocchio is the reference of every check")

ENGINES = [engine for engine, module in check.ENGINES.items() if find_spec(module)]
COLUMNS = {
    "H": "error_h",
    "bias": "error_bias",
    "factor": "error_factor",
    "L and D": "error_ld",
    "q̈": "error_qdd",
    "own q̈": "error_own",
}
FACTORED = ("pinocchio", "mujoco")  # engines that show their own factor of H
CELLS = [
    (engine, quantity)
    for engine in ENGINES
    for quantity in ("verdict", "tree", *COLUMNS)
    if not (engine == "pinocchio" and quantity in ("tree", "bias", "own q̈"))
    and not (engine not in FACTORED and quantity == "L and D")
]
ALONE = "checked against itself only"
MISSING = dict.fromkeys(COLUMNS, (ALONE, "H is singular: H is not positive", "H is singular: its condition"))
MISSING["L and D"] = MISSING["own q̈"] = (ALONE, "H is singular")
READER = "Pinocchio's reader of MJCF"
READ = ("H", "bias", "q̈", "own q̈")  # what depends on it
FAST = ["double_pendulum_continuous", "panda", "allegro_left_hand", "solo12", "talos_reduced", "xarm7"]
BASES = ["fixed", "floating"]


@cache
def rows(robot, engines, sample):
    found = next(check.check([robot], engines, samples=1, seed=sample))
    return {row.engine: row for row in found if row.base == robot.base}


def row(robot, engine, sample):
    """Return one state of one robot in one engine; Drake runs separately, since it is slow to import."""
    together = ("drake",) if engine == "drake" else tuple(e for e in ENGINES if e != "drake")
    return rows(robot, together, sample)[engine]


def check_cell(robot, engine, quantity, sample):
    found = row(robot, engine, sample)
    if quantity == "verdict":
        assert found.verdict != check.DISAGREES, found.reason
        assert found.reason or found.verdict == check.AGREES
        return
    if found.verdict == check.CANNOT_LOAD:
        pytest.skip(f"{engine} cannot load it: {found.reason}")
    if found.n == 0:
        pytest.skip("no joint moves")
    if quantity == "tree":
        assert found.same_tree
        return
    error = getattr(found, COLUMNS[quantity])
    if error is None:
        assert any(why in found.reason for why in MISSING[quantity]), found.reason
        pytest.skip(found.reason)
    if quantity in READ and any(cause.way == READER for cause in found.causes):
        pytest.skip(f"Pinocchio reads another robot from it: {found.reason}")
    assert error <= tolerances.cross_validation(engine, found.n, found.condition)[quantity]


@pytest.mark.parametrize(("engine", "quantity"), CELLS)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", FAST)
def test_fast(name, base, engine, quantity):
    check_cell(robots.find(name, base == "floating"), engine, quantity, sample=0)


@pytest.mark.slow
@pytest.mark.parametrize("sample", [1, 2])
@pytest.mark.parametrize(("engine", "quantity"), CELLS)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", list(robots.bundled()))
def test_every_bundled_robot(name, base, engine, quantity, sample):
    check_cell(robots.find(name, base == "floating"), engine, quantity, sample)


# ------------------------------------------------------------------------- MuJoCo's own format

MJCF_CELLS = [cell for cell in CELLS if cell[0] in check.READ_MJCF]
INERTIAL = '<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>'
BRANCHES = f"""<mujoco><worldbody><body name="trunk"><freejoint name="free"/>{INERTIAL}
<body name="arm" pos="0.3 0 0.1"><joint name="shoulder" type="ball"/>{INERTIAL}
<body name="hand" pos="0 0.2 0"><joint name="wrist" axis="0 0.6 0.8" armature="0.3"/>{INERTIAL}</body></body>
<body name="leg"><joint name="hip" type="slide" axis="1 0 0" damping="2"/>{INERTIAL}</body></body>
</worldbody></mujoco>"""
DM_CONTROL = """
suite/acrobot suite/ball_in_cup suite/cartpole suite/cheetah suite/dog suite/finger suite/fish suite/hopper
suite/humanoid suite/humanoid_CMU suite/lqr suite/manipulator suite/pendulum suite/point_mass suite/quadruped
suite/reacher suite/stacker suite/swimmer suite/walker
locomotion/walkers/assets/humanoid_CMU_V2019 locomotion/walkers/assets/humanoid_CMU_V2020
locomotion/walkers/assets/jumping_ball/jumping_ball_with_head locomotion/soccer/assets/boxhead/boxhead
locomotion/walkers/assets/rodent locomotion/walkers/assets/dog_v2/dog
locomotion/walkers/assets/fruitfly_v2/fruitfly third_party/kinova/jaco_hand
"""


def dm_control(name):
    package = pytest.importorskip("dm_control", reason="dm_control is an optional extra")
    return robots.find(str(Path(package.__path__[0], f"{name}.xml")))


@pytest.fixture(scope="module")
def branches(tmp_path_factory):
    path = tmp_path_factory.mktemp("mjcf") / "branches.xml"
    path.write_text(BRANCHES)
    return robots.find(str(path))


@pytest.mark.parametrize(("engine", "quantity"), MJCF_CELLS)
def test_an_mjcf(branches, engine, quantity):
    check_cell(branches, engine, quantity, sample=0)
    assert row(branches, engine, sample=0).n == 11


@pytest.mark.slow
@pytest.mark.parametrize("sample", [1, 2])
@pytest.mark.parametrize(("engine", "quantity"), MJCF_CELLS)
@pytest.mark.parametrize("name", DM_CONTROL.split())
def test_models_of_dm_control(name, engine, quantity, sample):
    check_cell(dm_control(name), engine, quantity, sample)


# ------------------------------------------------------------------------- robots that do not load

CANNOT_LOAD = {
    ("pinocchio", "pybullet", "mujoco", "drake"): """
pybullet_data/bicycle/bike pybullet_data/humanoid/humanoid pybullet_data/husky/husky
pybullet_data/quadruped/microtaur/microtaur pybullet_data/torus_deform ur3
""",  # invalid numbers or XML, no links
    ("pinocchio",): """
pybullet_data/biped/biped2d_pybullet pybullet_data/spherical_joint_limit
""",  # a limit that is not a number, a type of joint that URDF lacks
    ("pybullet floating",): """
romeo_laas_small
pybullet_data/biped/biped2d_pybullet pybullet_data/cartpole pybullet_data/cube_no_rotation
pybullet_data/cube_rotate pybullet_data/differential/diff_ring pybullet_data/kuka_iiwa/model
pybullet_data/kuka_iiwa/model_vr_limits pybullet_data/pendulum5 pybullet_data/plane
pybullet_data/plane100 pybullet_data/plane_implicit pybullet_data/plane_transparent
pybullet_data/samurai pybullet_data/sphere2red_nocol pybullet_data/table/table
pybullet_data/table_square/table_square pybullet_data/toys/concave_box pybullet_data/tray/tray
pybullet_data/tray/tray_textured2 pybullet_data/tray/traybox
""",  # an indefinite inertia; root links without mass
    ("drake",): """
alex_psyonic_hands allegro_left_hand allegro_right_hand anymal-kinova anymal_b_simple/anymal
anymal_c_simple/anymal b1 b1-z1 bolt go1 hyq_no_sensors pr2 pybullet_data/TwoJointRobot_w_fixedJoints
pybullet_data/TwoJointRobot_wo_fixedJoints pybullet_data/biped/biped2d_pybullet pybullet_data/cartpole
pybullet_data/franka_panda/panda pybullet_data/kuka_iiwa/model pybullet_data/kuka_iiwa/model_vr_limits
pybullet_data/mini_cheetah/mini_cheetah pybullet_data/sphere2red_nocol
pybullet_data/spherical_joint_limit pybullet_data/table/table pybullet_data/table_square/table_square
pybullet_data/toys/concave_box pybullet_data/xarm/link2 pybullet_data/xarm/link2_com
pybullet_data/xarm/link3 pybullet_data/xarm/link3_com pybullet_data/xarm/xarm6_robot
pybullet_data/xarm/xarm6_robot_white pybullet_data/xarm/xarm6_with_gripper romeo_laas_small romeo_small
tiago tiago_dual tiago_no_hand
""",  # inertias that cannot be
}


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("engine", ENGINES)
def test_robots_that_do_not_load(engine, base):
    adapter, known = import_module(f"treefactor.adapters.{engine}_"), robots.bundled()

    def refuses(path):
        try:
            adapter.load(path, base == "floating")
        except AdapterError:
            return True
        return False

    expected = [
        name
        for whom, names in CANNOT_LOAD.items()
        if engine in whom or f"{engine} {base}" in whom
        for name in names.split()
        if name in known
    ]
    assert [name for name, path in known.items() if refuses(path)] == sorted(expected)
