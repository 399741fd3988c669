"""Load a robot in an engine and compute in Pinocchio's conventions, whatever those of the engine are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .._util.conventions import Translation, pairs, translate
from ..exceptions import AdapterError
from . import own
from .engines import engine_module
from .reference import opened
from .robots import find


class LoadedRobot:
    """Robot in an engine; q, v, a, tau and results are in Pinocchio's conventions and order.

    Attributes
    ----------
    engine : module
    body : object
        As the engine loaded it.
    model : Model
        The same robot in treefactor: its joints define the order of q and v.

    Notes
    -----
    Not safe for threads: engines keep state.
    """

    def __init__(self, engine, body, model_body):
        self.engine, self.body, self.model = engine, body, model_body.model
        joints, self._base = engine.joints(body), engine.base(body)
        self._pairs = pairs(own.joints(model_body), joints, self._base)
        entries = [(joint.q.stop, joint.v.stop) for joint in joints] or [(0, 0)]
        self._sizes = (*np.max(entries, axis=0).tolist(), self.model.nv)

    def mass_matrix(self, q) -> np.ndarray:
        """Return H, shape (nv, nv)."""
        at = self._at(q)
        return at.reference_matrix(self._call("mass_matrix", at.q))

    def bias(self, q, v) -> np.ndarray:
        """Return Coriolis, centrifugal and gravity forces, shape (nv,)."""
        at = self._at(q, v)
        force = at.reference_force(self._call("bias", at.q, at.v))
        return force - self.mass_matrix(q) @ at.c if at.c.any() else force

    def gravity_forces(self, q) -> np.ndarray:
        """Return the forces of gravity, shape (nv,)."""
        at = self._at(q)
        return at.reference_force(self._call("gravity_forces", at.q))

    def inverse_dynamics(self, q, v, a) -> np.ndarray:
        """Return the forces for the acceleration a, shape (nv,)."""
        at = self._at(q, v)
        return at.reference_force(self._call("inverse_dynamics", at.q, at.v, at.motion(np.asarray(a, float))))

    def acceleration(self, q, v, tau) -> np.ndarray:
        """Return the acceleration by the engine's own algorithm, shape (nv,)."""
        at = self._at(q, v)
        return at.reference_motion(
            self._call("acceleration", at.q, at.v, at.force(np.asarray(tau, dtype=float)))
        )

    def placement(self, q, frame: str) -> np.ndarray:
        """Return the pose of a link frame in the world, shape (4, 4)."""
        return self._call("placement", self._at(q).q, frame)

    def jacobian(self, q, frame: str) -> np.ndarray:
        """Return the Jacobian of a link frame's origin, world axes, linear rows first, shape (6, nv)."""
        at = self._at(q)
        return at.reference_columns(self._call("jacobian", at.q, frame))

    def com(self, q) -> np.ndarray:
        """Return the centre of mass in the world, shape (3,)."""
        return self._call("com", self._at(q).q)

    def momentum(self, q, v) -> np.ndarray:
        """Return linear and angular momentum about the centre of mass, world axes, shape (6,)."""
        at = self._at(q, v)
        return self._call("momentum", at.q, at.v)

    def kinetic_energy(self, q, v) -> float:
        """Return the kinetic energy (J)."""
        at = self._at(q, v)
        return float(self._call("kinetic_energy", at.q, at.v))

    def potential_energy(self, q) -> float:
        """Return the energy of gravity, zero for masses at the world's origin (J)."""
        return float(self._call("potential_energy", self._at(q).q))

    def _at(self, q, v=None) -> Translation:
        v = np.zeros(self.model.nv) if v is None else v
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        return translate(self._pairs, self._base, self._sizes, q, v)

    def _call(self, function: str, *arguments) -> np.ndarray:
        if not hasattr(self.engine, function):
            raise AdapterError(f"{self.engine.NAME} does not offer {function}")
        # a copy: engines return their buffers
        return np.array(getattr(self.engine, function)(self.body, *arguments), dtype=float)


@contextmanager
def load_robot(
    engine: str, robot, floating: bool | None = None, options: Iterable[str] = ()
) -> Iterator[LoadedRobot]:
    """Load a robot in an engine as scripts do, except for the options named; close it at the end.

    Parameters
    ----------
    engine : str
        Name, or path of a Python file with the functions of the engine protocol.
    robot : str or path
        File, or name of a bundled robot.
    floating : bool, optional
        By default the base that a bundled robot is meant to stand on, fixed for files.
    options : iterable of str
        Options of the engine.

    Yields
    ------
    LoadedRobot

    Raises
    ------
    AdapterError
        If the engine is not installed or refuses the robot, or there is no such robot.
    """
    module, source = engine_module(engine), find(str(robot), floating)
    path = Path(source.path).absolute()
    with opened(module.load(path, source.floating, source.gravity, frozenset(options))) as body:
        yield LoadedRobot(module, body, own.load(path, source.floating, source.gravity))
