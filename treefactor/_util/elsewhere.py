"""Point from names that other packages use, or that people guess, to the names here, in errors."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NoReturn

from .messages import plain, similar

USES = {  # what to use here, and by which names people look for it: without capitals and underscores
    "treefactor.crba(model, q)": (
        "massmatrix inertiamatrix jointspaceinertia jointspaceinertiamatrix fullm getmassmatrix "
        "computemassmatrix calcmassmatrix calculatemassmatrix mjfullm mjcrb generalizedinertia "
        "compositerigidbodyalgorithm freefloatingmassmatrix"
    ),
    "treefactor.rnea(model, q, v, a)": (
        "inversedynamics id idyn rne newtoneuler recursivenewtoneuler computeinversedynamics mjrne "
        "mjinverse calcinversedynamics calculateinversedynamics rneainparallel"
    ),
    "treefactor.forward_dynamics(model, q, v, tau)": (
        "fd fdyn directdynamics accel forwarddynamicscrba calcforwarddynamics computeforwarddynamics "
        "mjforward abainparallel solveforwarddynamics"
    ),
    "treefactor.aba(model, q, v, tau)": "articulatedbody articulatedbodyalgorithm forwarddynamicsaba",
    "treefactor.bias(model, q, v)": (
        "nle nonlineareffects nonlinearterms biasforce biasforces biasterm h calcbiasterm qfrcbias "
        "coriolisandgravity generalizedbiasforces computebias"
    ),
    "treefactor.coriolis_matrix(model, q, v)": (
        "coriolis computecoriolismatrix coriolisterm getcoriolismatrix"
    ),
    "treefactor.generalized_gravity(model, q)": (
        "gravity g gravityforces gravityforce gravityvector gravload gravitytorques gravitytorque "
        "gravityterm gravitycompensation computegeneralizedgravity calcgravitygeneralizedforces"
    ),
    "treefactor.static_torque(model, q, fext)": "computestatictorque statictorques",
    "treefactor.inverse_inertia(model, q)": "minv computeminverse inversemassmatrix massmatrixinverse",
    "treefactor.kinetic_energy(model, q, v)": "computekineticenergy calckineticenergy kinetic",
    "treefactor.potential_energy(model, q)": "computepotentialenergy calcpotentialenergy potential",
    "treefactor.mechanical_energy(model, q, v)": "computemechanicalenergy energy totalenergy",
    "treefactor.all_terms(model, q, v)": "computeallterms",
    "treefactor.frame_placement(model, q, frame) or treefactor.joint_placements(model, q)": (
        "forwardkinematics fk fkine fkineall computeforwardkinematics forwardkinematic "
        "mjkinematics updateglobalplacements"
    ),
    "treefactor.frame_placement(model, q, frame)": (
        "framesforwardkinematics updateframeplacement updateframeplacements framepose bodypose getlinkstate "
        "framepositions calcbodytobasecoordinates getbodyplacement getframeplacement linkpose"
    ),
    "treefactor.frame_velocity(model, q, v, frame)": "getframevelocity getvelocity framevel bodyvelocity",
    "treefactor.frame_acceleration(model, q, v, a, frame)": "getframeacceleration getacceleration frameaccel",
    'treefactor.frame_acceleration(model, q, v, a, frame, "LOCAL_WORLD_ALIGNED", classical=True)': (
        "getframeclassicalacceleration getclassicalacceleration classicalacceleration"
    ),
    "treefactor.frame_jacobian(model, q, frame)": (
        "jacobian jac jacob jacob0 jacobe jacobian0 computejacobian computeframejacobian getframejacobian "
        "geometricjacobian calculatejacobian mjjac mjjacbody mjjacsite bodyjacobian calcpointjacobian "
        "calcpointjacobian6d calcbodyspatialjacobian spatialjacobian"
    ),
    "treefactor.joint_jacobian(model, q, joint)": (
        "computejointjacobian computejointjacobians getjointjacobian"
    ),
    "treefactor.frame_jacobian_dot(model, q, v, frame)": (
        "jacobiandot jdot jacobdot jacobiantimevariation getframejacobiantimevariation "
        "getjointjacobiantimevariation computejointjacobianstimevariation mjjacdot"
    ),
    "treefactor.center_of_mass(model, q)": (
        "com centreofmass composition computecom calccenterofmass calccenterofmassposition subtreecom "
        "computecenterofmass vcom comvelocity"
    ),
    "treefactor.center_of_mass_jacobian(model, q)": (
        "comjacobian jacobiancom jcom jacobiancenterofmass jacobiansubtreecenterofmass centreofmassjacobian "
        "mjjacsubtreecom"
    ),
    "treefactor.centroidal_momentum(model, q, v)": "computecentroidalmomentum momentum calcmomentum",
    "treefactor.centroidal_momentum_rate(model, q, v, a)": "computecentroidalmomentumtimevariation",
    "treefactor.centroidal_map(model, q)": "ccrba computecentroidalmap centroidalmomentummatrix cmm ag",
    "treefactor.centroidal_map_dot(model, q, v)": "dccrba computecentroidalmaptimevariation dag",
    "treefactor.constraints.forward_dynamics_derivatives(model, q, v, tau, contacts=contacts)": (
        "computeconstraintdynamicsderivatives"
    ),
    "treefactor.constraints.forward_dynamics(model, q, v, tau, contacts=contacts)": (
        "constraintdynamics initconstraintdynamics constraineddynamics forwarddynamicscontacts "
        "contactdynamics forwarddynamicsconstraintsdirect"
    ),
    "treefactor.rnea_derivatives(model, q, v, a)": (
        "computernreaderivatives computerneaderivatives inversedynamicsderivatives drnea "
        "computegeneralizedgravityderivatives computestatictorquederivatives"
    ),
    "treefactor.forward_dynamics_derivatives(model, q, v, tau)": (
        "computeabaderivatives abaderivatives daba fdderivatives"
    ),
    "treefactor.rnea_hessian(model, q, v, a, w)": "computerneasecondorderderivatives",
    "treefactor.frame_derivatives(model, q, v, a, frame)": (
        "computeforwardkinematicsderivatives getframevelocityderivatives getframeaccelerationderivatives "
        "getjointvelocityderivatives getjointaccelerationderivatives getpointvelocityderivatives "
        "getpointclassicaccelerationderivatives"
    ),
    "treefactor.com_derivatives(model, q, v)": "getcenterofmassvelocityderivatives",
    "treefactor.centroidal_derivatives(model, q, v, a)": (
        "computecentroidaldynamicsderivatives getcentroidaldynamicsderivatives"
    ),
    "treefactor.delassus(model, q, frame)": (
        "computedelassusmatrix delassusmatrix contactcholeskydecomposition"
    ),
    "treefactor.operational_inertia(model, q, frame)": "operationalspaceinertia taskinertia lambdamatrix",
    "treefactor.regressor(model, q, v, a)": (
        "computejointtorqueregressor jointtorqueregressor inversedynamicsregressor dynamicsregressor"
    ),
    "treefactor.kinetic_energy_regressor(model, q, v)": "computekineticenergyregressor",
    "treefactor.potential_energy_regressor(model, q)": "computepotentialenergyregressor",
    "treefactor.center_of_mass_regressor(model, q)": "computestaticregressor staticregressor",
    "treefactor.random_configuration(model, rng)": (
        "randomq randq randomstate randomconfig randomposition sampleconfiguration randomjointpositions"
    ),
    "treefactor.neutral(model)": (
        "neutralconfiguration zeroconfiguration q0 qneutral defaultconfiguration home"
    ),
    "treefactor.integrate(model, q, v)": "integratepos mjintegratepos integrateconfiguration",
    "treefactor.difference(model, q0, q1)": "mjdifferentiatepos differentiatepos subtract",
    "treefactor.normalize(model, q)": "mjnormalizequat normalizeconfiguration",
    "treefactor.factor(H, tree)": "cholesky chol ltl ldl ltdl mjfactorm decompose",
    "treefactor.solve(H, tree, b)": "mjsolvem choleskysolve solvem",
    "treefactor.step(model, q, v, tau, h)": "mjstep stepsimulation eulerstep dostep",
    "treefactor.rollout(model, q0, v0, tau, h)": "simulate simulation mjrollout forwardsimulation",
    "treefactor.damped_least_squares(J, e, damping) in a loop, as in the tutorial on inverse kinematics": (
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
    "arrays [R | p] of shape (3, 4) with the functions of treefactor.se3": (
        "pose transform isometry3 rigidtransform spatialtransform"
    ),
    "treefactor.se3.exp(v)": "exp6",
    "treefactor.se3.log(M)": "log6",
    "treefactor.se3.jexp(v)": "jexp6",
    "treefactor.se3.jlog(M)": "jlog6",
    "treefactor.se3.from_xyzquat(x)": "xyzquattose3",
    "treefactor.se3.to_xyzquat(M)": "se3toxyzquat",
    "treefactor.so3.exp(w)": "exp3",
    "treefactor.so3.log(R)": "log3",
    "treefactor.so3.jexp(w)": "jexp3",
    "treefactor.so3.jlog(R)": "jlog3",
    "treefactor.so3.from_rpy(rpy) and treefactor.so3.to_rpy(R)": "rpy rpytomatrix matrixtorpy",
    "treefactor.so3.from_quaternion(q) and treefactor.so3.to_quaternion(R)": (
        "quaternion quat quaterniontomatrix matrixtoquaternion"
    ),
}
ELSEWHERE = {name: use for use, names in USES.items() for name in names.split()}
FUNCTIONS = {  # functions of a model alone
    name: use.partition("(")[0].removeprefix("treefactor.")
    for name, use in ELSEWHERE.items()
    if use.startswith("treefactor.") and "(model, " in use
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


def no_attribute(owner: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error about an attribute that a module or class does not have: what to use instead.

    Names are looked for in `ELSEWHERE`, then in the public modules of this package that are imported, then
    among similar names of those that the owner has.
    """
    lacking = f"{owner} has no attribute {name!r}"
    if name.startswith("_"):  # asked for by the interpreter and by tools, not by people
        return AttributeError(lacking)
    use = ELSEWHERE.get(plain(name)) or _in_a_module(name)
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
