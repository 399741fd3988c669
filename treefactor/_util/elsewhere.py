"""Point from names that other packages use, or that people guess, to the names here, in errors."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import NoReturn

from .messages import plain, similar

USES = {  # what to use here besides declared quantities, by the names that people look for, see `plain`
    "treefactor.frame_placement(model, q, frame) or treefactor.joint_placements(model, q)": (
        "forwardkinematics fk fkine fkineall computeforwardkinematics forwardkinematic "
        "mjkinematics updateglobalplacements"
    ),
    'treefactor.frame_acceleration(model, q, v, a, frame, "LOCAL_WORLD_ALIGNED", classical=True)': (
        "getframeclassicalacceleration getclassicalacceleration classicalacceleration accelerationbias"
    ),
    "treefactor.constraints.forward_dynamics_derivatives(model, q, v, tau, contacts=contacts)": (
        "computeconstraintdynamicsderivatives"
    ),
    "treefactor.constraints.forward_dynamics(model, q, v, tau, contacts=contacts)": (
        "constraintdynamics initconstraintdynamics constraineddynamics forwarddynamicscontacts "
        "contactdynamics forwarddynamicsconstraintsdirect"
    ),
    "treefactor.delassus(model, q, frame)": (
        "computedelassusmatrix delassusmatrix contactcholeskydecomposition"
    ),
    "treefactor.operational_inertia(model, q, frame)": "operationalspaceinertia taskinertia lambdamatrix",
    "treefactor.random_configuration(model, rng)": (
        "randomq randq randomstate randomconfig randomposition sampleconfiguration randomjointpositions"
    ),
    "treefactor.neutral(model)": (
        "neutralconfiguration zeroconfiguration q0 qneutral defaultconfiguration home"
    ),
    "treefactor.factor(H, tree)": "cholesky chol ltl ldl ltdl mjfactorm decompose",
    "treefactor.solve(H, tree, b)": "mjsolvem choleskysolve solvem",
    "treefactor.step(model, q, v, tau, h)": "mjstep stepsimulation eulerstep dostep",
    "treefactor.rollout(model, q0, v0, tau, h)": "simulate simulation mjrollout forwardsimulation",
    "treefactor.control.inverse_kinematics(model, targets, frame)": (
        "ik inversekinematics ikine ikinelm ikinegn solveik calculateinversekinematics"
    ),
    "treefactor.Model.from_urdf(path)": (
        "loadurdf readurdf parseurdf fromurdf buildmodelfromurdf load loadmodel loadrobot urdf urdfmodel "
        "robotwrapper robot multibodyplant modelfromurdf makemodel fromfile fromurdffile buildfromurdf "
        "createmodelfromurdf loadrobotdescription"
    ),
    "treefactor.Model.from_urdf_string(text)": (
        "buildmodelfromxml fromxml fromstring fromxmlstring loadurdfstring fromurdftext"
    ),
    "treefactor.adapters.mujoco_.model(mujoco.MjModel.from_xml_path(path))": (
        "frommjcf loadmjcf readmjcf buildmodelfrommjcf fromxmlpath mjmodel mjmodelfromxmlpath"
    ),
    "treefactor.adapters.pinocchio_.model(pin_model)": "frompinocchio pinocchio frompin frompinmodel",
    "treefactor.adapters.mujoco_.model(source)": "frommujoco mujoco frommjmodel",
    "treefactor.adapters.pinocchio_.model(pinocchio.buildModelFromSdf(path)[0])": (
        "fromsdf loadsdf buildmodelfromsdf"
    ),
    "treefactor.robots.find(name)": (
        "loadrobotfromname findrobot examplerobotdata getrobot buildsamplemodel buildsamplemodelhumanoid "
        "buildsamplemodelmanipulator"
    ),
    "functions of treefactor, such as treefactor.rnea(model, q, v, a): they take no data": (
        "data createdata mjdata createdatas"
    ),
    "treefactor.Model.frame, model.frame(name), or the name where a frame is expected": (
        "getframeid getbodyid existframe"
    ),
    "treefactor.Model.numbers": "getjointid jointid",
    "treefactor.Model.mass": "computetotalmass totalmass getmass",
    "treefactor.Model.subtree_masses": "computesubtreemasses",
    "treefactor.Model.lower and treefactor.Model.upper": (
        "lowerpositionlimit upperpositionlimit jntrange positionlimits getpositionlowerlimits "
        "getpositionupperlimits jointlimits"
    ),
    "treefactor.Model.effort_limit": (
        "effortlimit uppereffortlimit lowereffortlimit torquelimit torquelimits effortlimits jntactfrcrange "
        "actuatorfrcrange"
    ),
    "treefactor.Model.velocity_limit": "velocitylimit uppervelocitylimit lowervelocitylimit velocitylimits",
    'treefactor.Joint(name, "freeflyer")': "jointmodelfreeflyer freeflyer floatingbase",
    'treefactor.Joint(name, "revolute", axis=axis)': (
        "jointmodelrevolute jointmodelrx jointmodelry jointmodelrz hinge revolute"
    ),
    'treefactor.Joint(name, "prismatic", axis=axis)': (
        "jointmodelprismatic jointmodelpx jointmodelpy jointmodelpz slider prismatic"
    ),
    'the argument reference, a text: treefactor.frame_jacobian(model, q, frame, "LOCAL_WORLD_ALIGNED")': (
        "referenceframe local world localworldaligned"
    ),
    "treefactor.constraints.Plane(body, normal, point), which is a half-space": "halfspace",
    "arrays [R | p] of shape (3, 4) with the functions of treefactor.se3": (
        "pose transform isometry3 rigidtransform spatialtransform"
    ),
}
KINDS = {  # kinds of joints
    name: kind
    for kind, names in {
        "revolute": "hinge rotary rotational pivot pin rx ry rz r",
        "continuous": "unbounded revoluteunbounded",
        "prismatic": "slide slider linear sliding translational px py pz p",
        "helical": "screw",
        "universal": "cardan hooke",
        "spherical": "ball socket ballandsocket",
        "translation": "cartesian xyz",
        "freeflyer": "free floating floatingbase freejoint freefloating root 6dof",
        "weld": "fixed rigid",
    }.items()
    for name in names.split()
}


@cache
def elsewhere() -> dict[str, str]:
    """Map names elsewhere to what to use here; quantities have theirs in their declarations."""
    own = {name: use for use, names in USES.items() for name in names.split()}
    # By name: declarations are above this module, and only errors need them
    return import_module(f"{__name__.partition('.')[0]}.quantities.hints").hints() | own


def functions() -> dict[str, str]:
    """Map names elsewhere to functions here of a model alone."""
    return {
        name: use.partition("(")[0].removeprefix("treefactor.")
        for name, use in elsewhere().items()
        if use.startswith("treefactor.") and "(model, " in use
    }


def no_attribute(owner: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error about an attribute that a module or class does not have: what to use instead.

    Names are looked for in `elsewhere`, then in the public modules of this package that are imported, then
    among similar names of those that the owner has.
    """
    lacking = f"{owner} has no attribute {name!r}"
    if name.startswith("_"):  # asked for by the interpreter and by tools, not by people
        return AttributeError(lacking)
    use = elsewhere().get(plain(name)) or _in_a_module(name)
    own = (one for one in known if not one.startswith("_"))
    return AttributeError(f"{lacking}: use {use}" if use else f"{lacking}{similar(name, own)}")


def _in_a_module(name: str) -> str:
    """Return the shortest path under which a public module of this package defines a name, or nothing."""
    public = [
        f"{path}.{name}"
        for path, module in list(sys.modules.items())
        if path.startswith("treefactor.") and "._" not in path and name in getattr(module, "__all__", ())
    ]
    return min(public, key=len, default="")


class Pointing(type):
    """Class of classes: an attribute that the class lacks raises the error that tells what to use."""

    def __getattr__(cls, name: str) -> NoReturn:
        raise no_attribute(cls.__name__, name, dir(cls))
