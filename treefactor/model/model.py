"""Define the model of a robot: a kinematic tree with masses, in Pinocchio's conventions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, overload

import numpy as np

from .._util.elsewhere import Pointing, no_attribute
from .._util.messages import not_a_model
from .._util.validation import Sealed, as_vector
from ..exceptions import InvalidModelError
from ..tree.tree import Tree
from . import _model_parameters as changes
from ._building import entries, parameters_of_joints
from ._compiled_parts import CompiledParts
from ._configurations import Configurations
from ._model_checks import numbers_of, parts_of, require_flags
from ._model_layout import coupling_of, entries_of
from ._read_urdf import read_urdf, read_urdf_text
from .frames import Frame, frame_of, frames_by_name, frames_of_joints, support_of
from .joints import SIZES, Joint, Loop
from .mimic import Coupling

if TYPE_CHECKING:
    from .geometry import Geometry

GRAVITY = (0.0, 0.0, -9.81)


class Model(Sealed, CompiledParts, metaclass=Pointing):
    """Tree of joints and the bodies they carry; picklable.

    Parameters
    ----------
    joints : sequence of Joint
        Parents before children.
    gravity : array_like, shape (3,)
        Acceleration of free fall in the frame of the base, m/s^2.
    name : str
    strict : bool
        Reject inertias that no body can have, and limits of joints that are negative or in the wrong order.
        Robot descriptions often contain them, and engines accept them; see `Model.faults`.
    loops : sequence of Loop
        Joints that close loops. The recursions (`crba`, `aba`, ...) ignore them.
    frames : sequence of Frame, optional
        Named places on bodies. By default one for every joint and one for every body with a name.

    Attributes
    ----------
    joints : tuple of Joint
    loops : tuple of Loop
    frames : tuple of Frame
    njoints, nq, nv : int
    idx_q, idx_v : tuple of int
        First entry of every joint in q and in v; a mimic joint has those of its leader.
    tree : Tree
        Tree of the freedoms, with the joints' names.
    gravity : ndarray, shape (3,), read-only
    armature : ndarray, shape (nv,), read-only
    parameters : ndarray, shape (njoints, 10), read-only
        (m, h, I) of every joint's body: see `with_parameters`.
    mass : float
    subtree_masses : ndarray, shape (njoints,), read-only
    lower, upper : ndarray, shape (nq,), read-only
    effort_limit, velocity_limit : ndarray, shape (nv,), read-only
        Largest amounts of the forces of motors and of v, infinite without limits, as Pinocchio's
        ``effortLimit`` and ``velocityLimit``.

    Raises
    ------
    InvalidModelError
        If a joint comes before its parent, has the name of another one, follows a joint that it cannot
        follow, or (if strict) has impossible limits or a body with an impossible inertia, or if a loop or
        frame names a joint that does not exist. Its attribute ``joint`` names the joint, loop or frame.

    Notes
    -----
    Immutable.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> arm = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> shoulder = tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=arm)
    >>> elbow = tf.Joint("elbow", "revolute", 0, p=[0, 0, -1], axis=[0, 1, 0], inertia=arm)
    >>> model = tf.Model([shoulder, elbow])
    >>> tf.crba(model, [0.0, 0.0])
    array([[2.7 , 0.85],
           [0.85, 0.35]])
    """

    loops: tuple[Loop, ...]
    name: str
    njoints: int
    nq: int
    nv: int
    idx_q: tuple[int, ...]
    idx_v: tuple[int, ...]
    gravity: np.ndarray
    armature: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    effort_limit: np.ndarray
    velocity_limit: np.ndarray
    _given_frames: tuple[Frame, ...] | None
    _source: Model | None  # the model built from joints that `with_parameters` made this one from
    _requests: dict  # of treefactor.kinematics; made with the model, so that threads use one
    _shared: cached_property[dict] = cached_property(lambda self: {})  # parts of all changed models
    _elements: tuple[int, ...] = ()  # leading axes of a batch whose elements have inertias of their own
    _compile: ClassVar[Callable[[Model], Any]]  # set by treefactor.dynamics.bodies

    def __init__(
        self,
        joints: Sequence[Joint],
        gravity=GRAVITY,
        name: str = "",
        strict: bool = True,
        loops: Sequence[Loop] = (),
        frames: Sequence[Frame] | None = None,
    ):
        joints, loops, frames = parts_of(joints, loops, frames)
        gravity = np.array(GRAVITY) if gravity is GRAVITY else as_vector(gravity, 3, "gravity").copy()
        self.__dict__.update(
            joints=joints,
            loops=loops,
            _given_frames=frames,
            _source=None,
            name=str(name),
            gravity=gravity,
            _requests={},
            **entries(joints),
        )
        gravity.flags.writeable = False
        if strict:
            changes.require_possible(self)

    @overload
    @classmethod
    def from_urdf(
        cls, path, floating: bool = False, mimic: bool = False, strict: bool = False, geometry: None = None
    ) -> Model: ...

    @overload
    @classmethod
    def from_urdf(
        cls,
        path,
        floating: bool = False,
        mimic: bool = False,
        strict: bool = False,
        *,
        geometry: Literal["collision", "visual"],
        package_dirs=(),
    ) -> tuple[Model, Geometry]: ...

    @classmethod
    def from_urdf(
        cls,
        path,
        floating: bool = False,
        mimic: bool = False,
        strict: bool = False,
        geometry: Literal["collision", "visual"] | None = None,
        package_dirs=(),
    ):
        """Load a model from a URDF, with Pinocchio's layout of q and v; needs no engine.

        Parameters
        ----------
        path : path-like
        floating : bool
            Connect the root link to the base by a free-flyer named ``root_joint``.
        mimic : bool
            Make mimic joints follow their leaders, instead of leaving both free.
        strict : bool
            Reject inertias that no body can have, and limits that are negative or in the wrong order.
        geometry : {"collision", "visual"}, optional
            Return also these shapes. By default no mesh is read.
        package_dirs : path-like or sequence of path-like
            Folders in which ``package://name/...`` is looked up as ``name/...``, before the folders that
            contain the file.

        Returns
        -------
        Model
        Geometry
            Only with ``geometry``. Shapes are called by their links and numbers, such as "foot_0"; of meshes,
            the convex hulls are taken. Files other than STL and OBJ, as COLLADA, are read by coal, from the
            extra ``collision``, as Pinocchio reads them: their unit is the metre, whatever they say.

        Raises
        ------
        AdapterError
            If the file is missing, is not well-formed XML, not a URDF or not a tree, or holds an invalid
            number, an unknown type of joint or a negative mass; names the file, the reason and the link or
            joint with its line. If a mesh is missing or cannot be read, or a shape or mesh encloses
            nothing; names the link and the file of the mesh, or where it was looked for.
        InvalidModelError
            If the joints do not form a model, or with ``strict`` if an inertia or limit is impossible; names
            the file and the joint.
        ValueError
            If ``geometry`` is something else, or there are ``package_dirs`` without it.

        Notes
        -----
        Joints come depth first, those on one link sorted by name. Links on fixed joints are merged into their
        parent links, on a fixed base those of the root into the base. A model has no damping or friction.
        A warning names link and number where Pinocchio reads a tensor, or mass and tensor, as zero. Files
        that Pinocchio refuses for other reasons, such as a blank behind a limit, may load without one.

        Every link and joint has a frame, fixed joints and merged links too, in Pinocchio's order: "universe"
        for the base, then every joint (type "joint" or "fixed_joint") followed by its link (type "body").
        """
        require_flags(floating=floating, mimic=mimic, strict=strict)
        made = cls._of_file(path, None, *read_urdf(path, floating, mimic), strict)
        if geometry is None and not package_dirs:
            return made
        from ._urdf_shapes import read_shapes

        return made, read_shapes(path, made.frames, geometry, package_dirs)

    @classmethod
    def from_urdf_string(
        cls, text: str, floating: bool = False, mimic: bool = False, strict: bool = False
    ) -> Model:
        """Load a model from the text of a URDF, such as ROS keeps in ``robot_description``.

        Parameters
        ----------
        text : str
        floating, mimic, strict : bool
            As for `from_urdf`.

        Raises
        ------
        AdapterError, InvalidModelError
            As for `from_urdf`. Messages name ``<string>`` instead of the file.

        Examples
        --------
        >>> import treefactor as tf
        >>> text = '''<robot name="door"><link name="frame"/><link name="leaf"><inertial><mass value="9"/>
        ...   <inertia ixx="3" ixy="0" ixz="0" iyy="4" iyz="0" izz="1"/></inertial></link>
        ...   <joint name="hinge" type="continuous"><parent link="frame"/><child link="leaf"/></joint>
        ... </robot>'''
        >>> tf.Model.from_urdf_string(text)
        <Model 'door': 1 joints, nq 2, nv 1>
        """
        require_flags(floating=floating, mimic=mimic, strict=strict)
        return cls._of_file("<string>", text, *read_urdf_text(text, floating, mimic), strict)

    @classmethod
    def _of_file(cls, path, text, joints: Sequence[Joint], frames, name: str, strict: bool) -> Model:
        """Return the model of joints and frames read from a file or text; errors name file and line."""
        try:
            return cls(joints, name=name, strict=strict, frames=frames)
        except InvalidModelError as error:
            from .._util.xml import content_of, line_of  # here: few files fail

            line = line_of(content_of(Path(path), None) if text is None else text, error.joint, "joint")
            where = f"{path}: line {line}" if line else str(path)
            raise InvalidModelError(f"{where}: {error}", error.joint) from None

    def __getattr__(self, name: str) -> NoReturn:
        raise no_attribute("Model", name, dir(self))

    def __reduce__(self):
        if self._source is not None:
            return changes.changed_model, (self._source, self.parameters, self.armature, self._rotors)
        return Model, (self.joints, self.gravity, self.name, False, self.loops, self._given_frames)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.njoints} joints, nq {self.nq}, nv {self.nv}>"

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """Return the joints of the model that this one was made from, with its own inertias."""
        return changes.joints_with_parameters(self)

    @cached_property
    def parameters(self) -> np.ndarray:
        """Return the bodies' parameters (njoints, 10) in joint axes, see `Inertia.parameters`; read-only."""
        return parameters_of_joints(self.joints)

    @cached_property
    def _rotors(self) -> np.ndarray:
        """Return the armature of the freedoms of all joints, mimic joints included."""
        return np.concatenate([np.zeros(0), *(joint.armature for joint in self.joints)])

    def with_parameters(self, pi, armature=None, strict: bool = False) -> Model:
        """Return a model with other inertial parameters; it shares the tree, kinematics, loops and frames.

        Parameters
        ----------
        pi : array_like, shape (njoints, 10)
            (m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz) of every body: h = m c and the tensor about
            the joint's origin, in its axes, as in Pinocchio's ``toDynamicParameters``; kg, kg m, kg m^2.
        armature : array_like, shape (nv,), optional
            As ``Model.armature``, in which mimic joints count for their leaders; by default the model's.
        strict : bool
            Reject parameters that no body can have, and negative armature. By default `Model.faults` names
            them. Where there is a first moment without mass, the `Inertia` has a centre of mass of NaN.

        Raises
        ------
        InvalidModelError, ShapeError, NonFiniteError
            If a shape is wrong, a number is not finite, or (if strict) a body is impossible; names the joint.

        Notes
        -----
        Recursions take moments about points that depend on radii of gyration. A changed model keeps those of
        the model that was built from joints, also through pickling: equal parameters give equal bits.

        Examples
        --------
        >>> import treefactor as tf
        >>> model = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(2.0))])
        >>> tf.crba(model.with_parameters(1.5 * model.parameters), [0.0])
        array([[3.]])
        """
        return changes.model_with_parameters(self, pi, armature, strict)

    def _replaced(self, gravity=None, frames: Sequence[Frame] | None = None) -> Model:
        """Return a model with another gravity or other frames, and the same parameters to the last bit."""
        gravity = self.gravity if gravity is None else gravity
        frames = self._given_frames if frames is None else frames
        if self._source is not None:
            own = self._source._replaced(gravity, frames)
            return changes.changed_model(own, self.parameters, self.armature, self._rotors)
        return Model(self.joints, gravity, self.name, False, self.loops, frames)

    @cached_property
    def coupling(self) -> Coupling | None:
        """Return the mimic coupling of all joints to v; None without mimic joints."""
        return coupling_of(self.joints, self.idx_v, self.extended)

    @cached_property
    def extended(self) -> Tree:
        """Return the tree of the freedoms of all joints, mimic joints included."""
        parent = np.array([joint.parent for joint in self.joints], dtype=np.intp)
        freedoms = np.array([SIZES[joint.kind][1] for joint in self.joints], dtype=np.intp)
        return Tree._of_joints(parent, freedoms, [str(joint.name) for joint in self.joints])

    @cached_property
    def tree(self) -> Tree:
        """Return the tree of the freedoms, with the joints' names."""
        return self.coupling.tree if self.coupling else self.extended

    @cached_property
    def subtree_masses(self) -> np.ndarray:
        """Return the mass that every joint carries, kg: Pinocchio's ``data.mass`` without its first entry."""
        carried = self.parameters[:, 0].copy()
        for i in range(self.njoints - 1, -1, -1):
            if self.joints[i].parent >= 0:
                carried[self.joints[i].parent] += carried[i]
        carried.flags.writeable = False
        return carried

    @cached_property
    def mass(self) -> float:
        """Return the mass of all bodies, kg; a fixed base has none."""
        return math.fsum(self.parameters[:, 0].tolist())

    @cached_property
    def bodies(self):
        """Return the compiled form that ``treefactor.dynamics`` uses."""
        import_module("treefactor.dynamics.bodies")  # sets _compile
        return self._compile(self)

    @cached_property
    def configurations(self) -> Configurations:
        """Return the compiled form that `integrate`, `difference` and their like use."""
        return Configurations(self.joints, self.idx_q, self.idx_v)

    @cached_property
    def entries(self) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
        """Return by kind the entries of the free joints in q, (joints, nq), and in v, (joints, nv)."""
        return entries_of(self.joints, self.idx_q, self.idx_v)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Return the numbers of the joints by their names and by the names of their bodies."""
        return MappingProxyType(numbers_of(self.joints))

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """Return the frames given to the model, or one for every joint and every body with a name."""
        return frames_of_joints(self.joints) if self._given_frames is None else self._given_frames

    @cached_property
    def _frames_by_name(self) -> Mapping[str, list[Frame]]:
        """Return the frames of every name."""
        return frames_by_name(self.frames)

    def frame(self, name: str, type: str | None = None) -> Frame:
        """Return the frame of a name; a joint or body of this name is one, too.

        Parameters
        ----------
        name : str
        type : str, optional
            Tells frames of one name apart: see `Frame`.

        Raises
        ------
        InvalidModelError
            If there is no such frame (proposes similar names), or several at different places.
        """
        return frame_of(self, name, type)

    def support(self, frame) -> np.ndarray:
        """Return the columns of v that move a frame, ascending: the columns of its packed Jacobian.

        Parameters
        ----------
        frame : str, Frame, or -1 for the base
            A frame, joint or body by name, or a Frame.
        """
        return support_of(self, frame_of(self, frame))

    def add_frame(self, name: str, parent, R=None, p=(0.0, 0.0, 0.0), type: str = "op_frame") -> Model:
        """Return a model with one more frame, placed at R and p (m) in the parent.

        Parameters
        ----------
        name : str
        parent : str, Frame, or -1 for the base
            A frame, joint or body by name, or a Frame.
        R, p : array_like, shapes (3, 3) and (3,)
        type : str
            See `Frame`.

        Raises
        ------
        InvalidModelError
            If a frame of this name and type exists, or R is not a rotation.
        """
        on = frame_of(self, parent, argument="parent")
        own = Frame(name, on.joint, np.eye(3) if R is None else R, p, type, on.name)
        return self._replaced(frames=(*self.frames, own.moved(on.R, on.p, on.joint)))

    def faults(self) -> dict[str, str]:
        """Return the faults of impossible inertias and limits, by the names of their joints."""
        faults = dict(changes.faults_of_limits(self))
        for name, fault in changes.faults_of_bodies(self).items():
            faults[name] = f"{faults[name]}; {fault}" if name in faults else fault
        return faults


def require_model(model) -> None:
    """Raise TypeError unless model is a Model."""
    if not isinstance(model, Model):
        raise TypeError(not_a_model(model))
