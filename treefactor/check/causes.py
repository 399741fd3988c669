"""Put the causes of differences into plain words: what an engine does, and where that is reported."""

from __future__ import annotations

from .cells import Cause

GENERAL = {  # by option or kind of edit: text that continues "the engine agrees only once the file ..."
    "written anew": "reads frames of the SDF differently: poses, axes or what they are relative to",
    "markup": "refuses or reads differently entities, instructions (<?...?>) or the encoding of the file",
    "repeated element": "refuses, or does not read the first of, elements that a link or joint has once",
    "inertial number": "refuses or reads differently missing or malformed numbers of an <inertial>",
    "joint number": "refuses or reads differently malformed numbers of a joint",
    "impossible limit": "refuses, or lets act, limits that are negative, or lower ones above the upper",
    "safety controller": "refuses a <safety_controller> without k_velocity",
    "mesh path": "does not find meshes that are named by package://",
    "visual": "agrees only without visual shapes",
    "collision": "agrees only without collision shapes",
    "material": "agrees only without materials",
    "transmission": "agrees only without transmissions",
    "gazebo": "agrees only without Gazebo's elements",
    "other": "agrees only without elements or attributes that the URDF specification does not know",
    "inertial": "gives links without <inertial> another inertia than zero",
    "inertial origin": "needs an <origin> in every <inertial>",
    "joint origin": "needs an <origin> in every joint",
    "joint limit": "needs a complete <limit> in every revolute and prismatic joint",
    "root world": "takes a root link called world for the world itself",
    "mimic": "does not leave mimic joints free",
    "dynamics": "includes joint damping or friction",
    "limit": "lets joint limits act",
    "axis": "does not scale joint axes to unit length",
    "fixed joint": "treats links on fixed joints differently",
    "joint frame": "treats joints whose axis is not +z differently",
    # of an MJCF
    "include": "does not read included files",
    "model name": "refuses a model without a name",
    "texture": "refuses textures or materials",
    "height field": "refuses height fields",
    "no dynamics": "agrees only without sections that have no part in the dynamics",
    "actuator": "lets actuators act, their controls zero",
    "tendon": "lets tendons act",
    "equality": "lets equality constraints act",
    "contact": "agrees only without the section on contacts",
    "damping": "includes joint damping",
    "stiffness": "includes joint springs",
    "frictionloss": "includes joint friction",
    "limited": "lets joint limits act",
    "settotalmass": "ignores the compiler's settotalmass",
    "boundmass": "ignores the compiler's boundmass",
    "boundinertia": "ignores the compiler's boundinertia",
    "balanceinertia": "ignores the compiler's balanceinertia",
    "inertiafromgeom": "ignores the compiler's inertiafromgeom",
    "inertiagrouprange": "ignores the compiler's inertiagrouprange",
    "shapes": "computes other masses or inertias of shapes",
    "gravity flag": "ignores the flag that disables gravity",
    "freejoint": "does not read <freejoint>",
    "free body": "adds the position of a body in the file to that of its free joint",
    "bodies": "reads the first body of the world only",
    "placed body": "puts the first body at the world's origin if no joint moves it",
    "default": "reads default classes differently",
    "several joints": "treats bodies with several joints differently",
    "resolved": "agrees only once the file states what MuJoCo compiles, placements included",
    "armature": "ignores armature of joints",
    "armature axes": "lets the armature of free joints act along the axes of the body, not of the world",
    "ref": "ignores the reference position of joints (ref)",
    "earlier ref": "ignores the reference position (ref) of all joints of a body but the last",
    "tendon armature": "ignores armature of tendons",
    "gravity": "ignores gravity of the file",
    "other bodies": "ignores all bodies of the world but the first",
}

RTB_FIXED = "https://github.com/petercorke/robotics-toolbox-python/issues/636"

DROPPED = "drops an <inertial>, or its tensor, with a missing or malformed number such as '0 '"

KNOWN = {  # by engine and option or kind of edit: text of the cause, and link to the upstream report
    ("pinocchio", "inertial number"): (DROPPED, ""),
    ("dart", "inertial number"): (DROPPED, ""),
    ("drake", "several joints"): ("misplaces all joints of a body but the last", ""),
    ("pybullet", "inertial"): ("gives links without <inertial> 1 kg and moments of 1 kg m²", ""),
    ("pybullet", "visual"): ("refuses files whose meshes are missing", ""),
    ("pybullet", "axis"): (
        "does not scale joint axes to unit length in velocities, q̈ and displacements of prismatic joints",
        "",
    ),
    ("pybullet", "fixed joint"): (
        "fixes a free base whose root link has no mass, and holds at most 128 links",
        "",
    ),
    ("drake", "mimic"): ("refuses fixed joints that follow others", ""),
    ("drake", "dynamics"): ("includes joint damping in q̈ of continuous time", ""),
    ("drake", "transmission"): ("adds the inertia of rotors, and refuses transmissions without type", ""),
    ("dart", "inertial"): ("gives links without <inertial> 1 kg and moments of 1 kg m²", ""),
    ("newton", "inertial"): ("gives links without <inertial> the mass of their shapes", ""),
    ("newton", "collision"): ("gives links without mass the mass of their collision shapes", ""),
    ("adam", "inertial origin"): ("refuses an <inertial> without <origin>", ""),
    ("adam", "axis"): ("does not scale joint axes to unit length, and refuses a joint without <axis>", ""),
    ("adam", "material"): ("refuses a <texture> without file name", ""),
    ("rtb", "fixed joint"): (
        "loses or misplaces links on fixed joints: the second one on a link, or one that carries a joint",
        RTB_FIXED,
    ),
    ("rtb", "joint frame"): ("computes dynamics with the opposite sign for joint axes along -x, -y, -z", ""),
    ("rtb", "dynamics"): ("adds the friction of joints to inverse dynamics, times their velocity", ""),
    ("rtb", "visual"): ("refuses files whose meshes are missing", ""),
    ("dart", "visual"): ("refuses files whose meshes are missing", ""),
    ("dart", "mimic"): ("drives mimic joints by an actuator of its own", ""),
    ("dart", "dynamics"): ("integrates joint damping implicitly, within q̈", ""),
    ("dart", "written anew"): ("takes joint axes of SDF 1.4 in the frame of the joint, not of the model", ""),
    ("idyntree", "fixed joint"): (
        "takes the link fixed to a root link without mass as its base",
        "",
    ),
}

AS_OPTION = {
    ("dart", "limit"): "setForces"
}  # by engine and kind of edit: the option that names the same cause


def cause_text(engine: str, step: str, options: dict) -> tuple[str, str]:
    """Return what an engine does, and the address of the upstream report or "".

    Parameters
    ----------
    engine : str
    step : str
        Option of the engine or kind of edit.
    options : dict of str to str
        The engine's.
    """
    step = AS_OPTION.get((engine, step), step)
    if (engine, step) in KNOWN:
        return KNOWN[engine, step]
    return options.get(step) or GENERAL.get(step, step), ""


def cause_line(cause: Cause, shown: int | None = None) -> str:
    """Return a cause in one line, with so many of its links or joints, all by default."""
    names = [*cause.where[:shown], *(["..."] if len(cause.where) > len(cause.where[:shown]) else [])]
    where = f" ({', '.join(names)})" if names else ""
    effect = f", by {cause.effect:.1e}" if cause.effect is not None else ""
    return f"{cause.text}{where}{effect}{f', see {cause.link}' if cause.link else ''}"
