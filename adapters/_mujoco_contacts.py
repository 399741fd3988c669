"""Let a body of a URDF rest and slide on the ground in MuJoCo, with its default contacts or stiffer ones."""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from .._util.protocol import ContactRun, ContactScene
from ._mujoco_files import compiled

CONTACT_OPTIONS = {
    "softness": "has soft contacts (solref 0.02 s, solimp 0.9 to 0.95)",
    "regularization": "lets contacts creep (impratio 1, pyramidal cone)",
    "friction": "takes friction 1 where the file states none",
}
STIFF = {"solref": (2.0, 1.0), "solimp": (0.99, 0.999, 0.001)}  # time constant in steps
IMPRATIO = 100.0


def contact_run(scene: ContactScene, options: frozenset[str] = frozenset()) -> ContactRun:
    """Run a scene; raise AdapterError if MuJoCo refuses the file."""
    spec = compiled(mujoco.MjSpec.from_file, scene.path, str(scene.path))
    spec.compiler.fusestatic = False  # a free root link keeps its name
    spec.worldbody.first_body().add_freejoint()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
    model = compiled(spec.compile, scene.path)
    _set_options(model, scene, options)
    data = mujoco.MjData(model)
    data.qpos[:3], data.qpos[3:7] = scene.p, np.roll(Rotation.from_matrix(scene.R).as_quat(), 1)
    p = np.empty((scene.steps + 1, 3))
    p[0] = scene.p
    for k in range(scene.steps):
        mujoco.mj_step(model, data)
        p[k + 1] = data.qpos[:3]
    R = Rotation.from_quat(np.roll(data.qpos[3:7], -1)).as_matrix()
    mujoco.mj_forward(model, data)
    force, normal = np.zeros(6), []
    for k in range(data.ncon):
        mujoco.mj_contactForce(model, data, k, force)
        normal.append(force[0])
    return ContactRun(p, R, data.contact.pos.reshape(-1, 3).copy(), np.array(normal))


def _set_options(model: mujoco.MjModel, scene: ContactScene, options: frozenset[str]) -> None:
    """Set step, gravity and what the options name."""
    model.opt.timestep, model.opt.gravity[:] = scene.h, scene.gravity
    if "friction" in options:
        model.geom_friction[:] = scene.mu, 0.0, 0.0
    if "softness" in options:
        model.geom_solref[:] = STIFF["solref"][0] * scene.h, STIFF["solref"][1]
        model.geom_solimp[:, :3] = STIFF["solimp"]
    if "regularization" in options:
        model.opt.impratio, model.opt.cone = IMPRATIO, mujoco.mjtCone.mjCONE_ELLIPTIC
