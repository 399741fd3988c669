"""Write the functions of frames, the centre of mass, momentum and energies on the table of a `Writer`."""

from __future__ import annotations

from functools import cached_property

from ..model.frames import frame_of
from .algorithms.centroidal import Centroidal
from .program.names import FrameFunction


class Outputs:
    """Functions that report motions: methods named like them return scalars of results.

    Parameters
    ----------
    writer : Writer
    """

    def __init__(self, writer):
        self.writer, self.model = writer, writer.model

    @cached_property
    def algorithms(self) -> Centroidal:
        """Kinematics of the bodies of the writer."""
        return Centroidal(self.writer.recursions)

    def result(self, name: str, method: str | None) -> list:
        """Return the scalars of a function."""
        frame = FrameFunction.of(name)
        if frame is not None:
            spot = self.algorithms.spot(frame_of(self.model, frame.frame))
            return getattr(self, frame.kind)(frame, spot, *[method] * bool(method))
        return getattr(self, name)(method) if method else getattr(self, name)()

    def frame_placement(self, function: FrameFunction, spot, method: str) -> list:
        """Return rows [R | p] of a frame."""
        return self.algorithms.placement(spot, method)

    def frame_velocity(self, function: FrameFunction, spot) -> list:
        """Return its velocity."""
        return self.algorithms.velocity(spot, self.writer.rates("v"), function.reference)

    def frame_acceleration(self, function: FrameFunction, spot) -> list:
        """Return its acceleration."""
        rates = self.writer.rates("v"), self.writer.rates("a")
        classical = "classical" in function.options
        return self.algorithms.acceleration(spot, *rates, function.reference, classical)

    def frame_jacobian(self, function: FrameFunction, spot) -> list:
        """Return its Jacobian."""
        return self._kept(function, self.algorithms.jacobian(spot, function.reference))

    def frame_jacobian_dot(self, function: FrameFunction, spot) -> list:
        """Return the time derivative of its Jacobian."""
        columns = self.algorithms.jacobian_dot(spot, self.writer.rates("v"), function.reference)
        return self._kept(function, columns)

    def _kept(self, function: FrameFunction, columns) -> list:
        """Return the entries of a Jacobian in the layout of a function."""
        if "packed" not in function.options:
            return self._flat(columns)
        support = self.model.support(function.frame).tolist()
        return [row[k] for row in self._rows(columns) for k in support]

    def _rows(self, columns) -> list:
        """Return rows for the coordinates from columns for all freedoms."""
        count = len(columns[0]) if columns else 0
        return [self.writer.reduced([column[i] for column in columns]) for i in range(count)]

    def _flat(self, columns) -> list:
        """Return the entries of a matrix for the coordinates, row by row, from columns for all freedoms."""
        return [entry for row in self._rows(columns) for entry in row]

    def joint_placements(self) -> list:
        """Return rows [R | p] of all joints."""
        return self.algorithms.joint_placements(self.model.njoints)

    def center_of_mass(self) -> list:
        """Return the centre of mass."""
        return self.algorithms.center_of_mass()

    def center_of_mass_velocity(self) -> list:
        """Return its velocity."""
        return self.algorithms.center_motion(self.writer.rates("v"), None)[0]

    def center_of_mass_acceleration(self) -> list:
        """Return its acceleration."""
        return self.algorithms.center_motion(self.writer.rates("v"), self.writer.rates("a"))[1]

    def center_of_mass_jacobian(self, method: str) -> list:
        """Return its Jacobian."""
        return self._flat(self.algorithms.center_jacobian(method))

    def centroidal_map(self) -> list:
        """Return the map from velocities to the centroidal momentum."""
        return self._flat(self.algorithms.centroidal_map())

    def centroidal_map_dot(self) -> list:
        """Return the time derivative of this map."""
        return self._flat(self.algorithms.centroidal_map_dot(self.writer.rates("v")))

    def centroidal_momentum(self, method: str) -> list:
        """Return the centroidal momentum."""
        return self.algorithms.momentum(self.writer.rates("v"), method)

    def centroidal_momentum_rate(self) -> list:
        """Return its time derivative."""
        return self.algorithms.momentum_rate(self.writer.rates("v"), self.writer.rates("a"))

    def kinetic_energy(self, method: str) -> list:
        """Return the kinetic energy, from the bodies or from H."""
        if method == "bodies":
            return [self.algorithms.kinetic_energy(self.writer.rates("v"))]
        tree, v = self.model.tree, self.writer.input("v")
        momenta: list = [0.0] * tree.n
        for i, j, x in zip(tree.rows.tolist(), tree.columns.tolist(), self.writer.crba(), strict=True):
            momenta[i] = momenta[i] + (x * 0.5 if i == j else x) * v[j]
        total: object = 0.0
        for p, speed in zip(momenta, v, strict=True):
            total = total + p * speed
        return [total]

    def potential_energy(self) -> list:
        """Return the potential energy."""
        return [self.algorithms.potential_energy()]

    def generalized_gravity(self) -> list:
        """Return the generalized forces that hold the model at rest."""
        return self.writer.reduced(self.algorithms.gravity())
