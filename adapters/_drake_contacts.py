"""Let a body of a URDF rest and slide on the ground in Drake, with its default contacts or stiffer ones."""

from __future__ import annotations

import numpy as np
from pydrake.geometry import (
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    HalfSpace,
    ProximityProperties,
    RoleAssign,
    SceneGraph,
    SceneGraphConfig,
)
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, MultibodyPlant
from pydrake.multibody.tree import BodyIndex
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

from .._util.protocol import ContactRun, ContactScene
from ..tolerances import STICTION
from ._refusals import refusals, unwarned

CONTACT_OPTIONS = {
    "softness": "has soft contacts (point stiffness 1e6 N/m)",
    "regularization": "lets contacts creep (stiction tolerance 1 mm/s)",
    "points": "has one contact point per pair of shapes, unless they are hydroelastic",
    "friction": "takes friction 1 where the file states none",
}
STIFF = 1e9  # N/m, or Pa


def contact_run(scene: ContactScene, options: frozenset[str] = frozenset()) -> ContactRun:
    """Run a scene with a discrete plant; raise AdapterError if Drake refuses the file."""
    builder = DiagramBuilder()
    plant, scene_graph = AddMultibodyPlantSceneGraph(builder, scene.h)
    scene_graph.set_config(_config(options))
    if "regularization" in options:
        plant.set_stiction_tolerance(STICTION)
    with refusals("drake", "Drake cannot load it", scene.path, None), unwarned("drake"):
        Parser(plant=plant).AddModels(str(scene.path))
        hard = ProximityProperties()
        AddRigidHydroelasticProperties(hard)
        AddContactMaterial(friction=CoulombFriction(1.0, 1.0), properties=hard)
        world, at = plant.world_body(), RigidTransform()
        plant.RegisterCollisionGeometry(world, at, HalfSpace(), "ground", hard)
        if "friction" in options:
            _set_friction(plant, scene_graph, scene.mu)
        plant.mutable_gravity_field().set_gravity_vector(scene.gravity)
        plant.Finalize()
        simulator = Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    (root,) = (plant.get_body(index) for index in plant.GetFloatingBaseBodies())
    plant.SetFreeBodyPose(context, root, RigidTransform(RotationMatrix(scene.R), scene.p))
    p = np.empty((scene.steps + 1, 3))
    p[0] = scene.p
    for k in range(scene.steps):
        simulator.AdvanceTo((k + 1) * scene.h)
        p[k + 1] = plant.EvalBodyPoseInWorld(context, root).translation()
    R = plant.EvalBodyPoseInWorld(context, root).rotation().matrix()
    return ContactRun(p, R, *_support(plant, context))


def _config(options: frozenset[str]) -> SceneGraphConfig:
    """Return the properties of shapes that the file gives none."""
    config = SceneGraphConfig()
    defaults = config.default_proximity_properties
    if "softness" in options:
        defaults.point_stiffness = defaults.hydroelastic_modulus = STIFF
    if "points" in options:
        defaults.compliance_type = "compliant"
    config.default_proximity_properties = defaults
    return config


def _set_friction(plant: MultibodyPlant, scene_graph: SceneGraph, mu: float) -> None:
    """Give all shapes one coefficient of friction."""
    for k in range(plant.num_bodies()):
        for shape in plant.GetCollisionGeometriesForBody(plant.get_body(BodyIndex(k))):
            own = ProximityProperties(scene_graph.model_inspector().GetProximityProperties(shape))
            own.UpdateProperty("material", "coulomb_friction", CoulombFriction(mu, mu))
            scene_graph.AssignRole(plant.get_source_id(), shape, own, RoleAssign.kReplace)


def _support(plant: MultibodyPlant, context) -> tuple[np.ndarray, np.ndarray]:
    """Return points and normal forces of the last step."""
    results = plant.get_contact_results_output_port().Eval(context)
    pairs = [results.point_pair_contact_info(k) for k in range(results.num_point_pair_contacts())]
    patches = [results.hydroelastic_contact_info(k) for k in range(results.num_hydroelastic_contacts())]
    points = [pair.contact_point() for pair in pairs]
    points += [patch.contact_surface().centroid() for patch in patches]
    normal = [pair.contact_force()[2] for pair in pairs] + [
        patch.F_Ac_W().translational()[2] for patch in patches
    ]
    return np.array(points).reshape(-1, 3), np.abs(normal)
