"""Frames of Pinocchio's models on ours, and Pinocchio's results of the functions of the kinematics."""

from __future__ import annotations

from functools import cache

import numpy as np

import treefactor as tf
from helpers.codegen_models import model, pin, pinocchio_model

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
FRAMES = {"ur5": "tool0", "panda9": "panda_hand_tcp", "solo12": "FL_FOOT", "talos32": "left_sole_link"}


@cache
def with_frames(name: str) -> tf.Model:
    """Return a robot with the operational frames, links and joints of Pinocchio's model that are unique."""
    robot, theirs = model(name), pinocchio_model(name)
    frames = {}
    for frame in theirs.frames[1:]:
        placement = frame.placement
        own = tf.Frame(frame.name, frame.parentJoint - 1, placement.rotation, placement.translation)
        frames.setdefault(frame.name, own)
    return tf.Model(robot.joints, robot.gravity, robot.name, frames=frames.values())


def frame_functions(frame: str) -> list[str]:
    """Return all functions of a frame, in all references; Jacobians also packed."""
    found = [f"frame_placement:{frame}"]
    for reference in REFERENCES:
        for kind in ("velocity", "acceleration", "jacobian", "jacobian_dot"):
            found.append(f"frame_{kind}:{frame}:{reference}")
        found.append(f"frame_acceleration:{frame}:{reference}:classical")
        found += [f"frame_{kind}:{frame}:{reference}:packed" for kind in ("jacobian", "jacobian_dot")]
    return found


def frame_results(theirs, q, v, a, frame: str, columns) -> dict[str, np.ndarray]:
    """Return Pinocchio's results of `frame_functions`."""
    data, number = theirs.createData(), theirs.getFrameId(frame)
    pin.computeJointJacobiansTimeVariation(theirs, data, q, v)
    pin.forwardKinematics(theirs, data, q, v, a)
    pin.updateFramePlacements(theirs, data)
    found = {f"frame_placement:{frame}": data.oMf[number].homogeneous[:3]}
    for reference in REFERENCES:
        given = (theirs, data, number, getattr(pin, reference))
        end = f"{frame}:{reference}"
        found[f"frame_velocity:{end}"] = pin.getFrameVelocity(*given).vector
        found[f"frame_acceleration:{end}"] = pin.getFrameAcceleration(*given).vector
        found[f"frame_acceleration:{end}:classical"] = pin.getFrameClassicalAcceleration(*given).vector
        J, dJ = pin.getFrameJacobian(*given), pin.getFrameJacobianTimeVariation(*given)
        for kind, matrix in (("jacobian", J), ("jacobian_dot", dJ)):
            matrix = matrix.reshape(6, theirs.nv)
            found[f"frame_{kind}:{end}"] = matrix
            found[f"frame_{kind}:{end}:packed"] = matrix[:, columns]
    return found


def _kinds(theirs) -> list[str]:
    """Return the kinds of the joints of Pinocchio's model."""
    return [joint.shortname() for joint in theirs.joints]


def whole_results(theirs, q, v, a) -> dict[str, np.ndarray]:
    """Return Pinocchio's results for the whole robot, by the names of our functions."""
    data = theirs.createData()
    pin.centerOfMass(theirs, data, q, v, a)
    found = {
        "joint_placements": np.array([placement.homogeneous[:3] for placement in data.oMi][1:]),
        "center_of_mass": data.com[0].copy(),
        "center_of_mass_velocity": data.vcom[0].copy(),
        "center_of_mass_acceleration": data.acom[0].copy(),
        "center_of_mass_jacobian": pin.jacobianCenterOfMass(theirs, data, q).reshape(3, theirs.nv),
    }
    pin.computeCentroidalMomentumTimeVariation(theirs, data, q, v, a)
    found["centroidal_momentum"] = data.hg.vector.copy()
    found["centroidal_momentum_rate"] = data.dhg.vector.copy()
    if not any(name.startswith("JointModelUniversal") for name in _kinds(theirs)):
        dmap = pin.computeCentroidalMapTimeVariation(theirs, data, q, v)  # leaves out axes in the joint
        found["centroidal_map_dot"] = dmap.reshape(6, theirs.nv).copy()
    found["centroidal_map"] = pin.computeCentroidalMap(theirs, data, q).reshape(6, theirs.nv).copy()
    H = pin.crba(theirs, data, q)  # computeKineticEnergy leaves out armatures of most unaligned joints
    found["kinetic_energy"] = np.array(v @ np.triu(H) @ v - v @ (np.diag(H) * v) / 2)
    found["potential_energy"] = np.array(pin.computePotentialEnergy(theirs, data, q))
    found["generalized_gravity"] = pin.computeGeneralizedGravity(theirs, data, q).copy()
    return found
