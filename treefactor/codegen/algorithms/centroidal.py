"""Compute the centre of mass, the centroidal momentum and energies of a model, on any scalars."""

from __future__ import annotations

from functools import cached_property

from ...exceptions import CodegenError
from .inertias import Moments
from .kinematics import Kinematics
from .matrices import ZERO, add, apply, cross, dot, subtract, symmetric, times, transposed, upper


class Centroidal(Kinematics):
    """Quantities of the whole model at one configuration; vectors are in axes of the base."""

    @cached_property
    def mass(self) -> float:
        """Mass of the whole model; raises CodegenError if it is 0."""
        total = sum(float(body.moments[3, 3] + body.unfelt[3, 3]) for body in self.bodies)
        if not total > 0:
            raise CodegenError("the model has no mass, and no centre of mass")
        return total

    @cached_property
    def centers(self) -> dict:
        """Centre of mass of the whole model in the frame of every body; -1: in the base."""
        roots, centers = [i for i, body in enumerate(self.bodies) if body.parent < 0], {}
        unfelt = {i: self.bodies[i].unfelt[3].tolist() for i in roots}
        first = {i: add(self.recursions.composites[i].h, unfelt[i][:3]) for i in roots}
        if len(roots) == 1:
            centers[roots[0]] = times(first[roots[0]], 1.0 / self.mass)
            centers[-1] = self.places[roots[0]].point(centers[roots[0]])
        else:
            total = list(ZERO)
            for i in roots:
                m = self.recursions.composites[i].m + unfelt[i][3]
                total = add(total, self.carried(i, m, (first[i], ZERO, ZERO), None, None)[0])
            centers[-1] = times(total, 1.0 / self.mass)
        for i, body in enumerate(self.bodies):
            if i not in centers:
                centers[i] = self.places[i].seen(centers[body.parent])
        return centers

    def center_of_mass(self) -> list:
        """Return the centre of mass."""
        return self.centers[-1]

    def center_motion(self, v, a) -> tuple[list, list]:
        """Return velocity and acceleration of the centre of mass."""
        moving: list = [(moments.h, ZERO, ZERO) for moments in self.recursions.moments]
        total: tuple = (ZERO, ZERO, ZERO)
        for i in reversed(range(len(self.bodies))):
            in_parent = self.carried(i, self.recursions.composites[i].m, moving[i], v, a)
            parent = self.bodies[i].parent
            if parent >= 0:
                moving[parent] = tuple(map(add, moving[parent], in_parent))
            else:
                total = tuple(map(add, total, in_parent))
        return times(total[1], 1.0 / self.mass), times(total[2], 1.0 / self.mass)

    def center_jacobian(self, method: str) -> list:
        """Return the columns of the Jacobian of the centre of mass; "momentum" divides those of the map."""
        columns: list = [None] * self.recursions.tree.n
        share = 1.0 / self.mass
        for k, i, (linear, _) in self._momenta():
            R = self.rotations[i]
            divided = (
                times(apply(R, linear), share) if method == "momentum" else apply(R, times(linear, share))
            )
            columns[k] = divided
        return columns

    def _momenta(self):
        """Yield freedoms, their bodies, and the momentum of the subtree for unit velocity, in the body."""
        for i, composite in enumerate(self.recursions.composites):
            for k, (v, w) in self.recursions.freedoms(i):
                yield k, i, composite.momentum(v, w)

    def centroidal_map(self) -> list:
        """Return the columns of the map from velocities to the centroidal momentum."""
        columns: list = [None] * self.recursions.tree.n
        for k, i, (linear, angular) in self._momenta():
            R = self.rotations[i]
            columns[k] = apply(R, linear) + apply(R, subtract(angular, cross(self.centers[i], linear)))
        return columns

    def centroidal_map_dot(self, v) -> list:
        """Return the time derivatives of the columns of the centroidal map."""
        columns: list = [None] * self.recursions.tree.n
        rates, drifts, velocities = self._rates(v), self._drifts(v), self.velocities(v)
        for k, i, (linear, angular) in self._momenta():
            R, center, turning = self.rotations[i], self.centers[i], velocities[i][1]
            motion = self.recursions.motions[i][k - self.bodies[i].v]
            dlinear, dangular = rates[i].momentum(*motion)
            about = subtract(angular, cross(center, linear))
            dabout = subtract(dangular, add(cross(drifts[i], linear), cross(center, dlinear)))
            columns[k] = apply(R, add(dlinear, cross(turning, linear)))
            columns[k] += apply(R, add(dabout, cross(turning, about)))
        return columns

    def _rates(self, v) -> list[Moments]:
        """Return the time derivatives of the moments of every subtree, in the frame of its body."""
        still = Moments(symmetric(*[0.0] * 6), ZERO, 0.0)
        rates = [still] * len(self.bodies)
        for i in reversed(range(len(self.bodies))):
            parent, composite, (linear, w) = (
                self.bodies[i].parent,
                self.recursions.composites[i],
                self.joint(i, v),
            )
            if parent >= 0:
                h, m = composite.h, composite.m
                turned = transposed([cross(w, column) for column in transposed(composite.K)])
                part = [[turned[a][b] + linear[a] * h[b] for b in range(3)] for a in range(3)]
                moving = Moments(_symmetrized(part), add(times(linear, m), cross(w, h)), 0.0)
                rates[parent] += (rates[i] + moving).moved(self.places[i])
        return rates

    def _drifts(self, v) -> list:
        """Return the velocity of the model's centre of mass relative to every body, in its frame."""
        drifts: list = []
        center, _ = self.center_motion(v, None)
        seen: list = []
        for i, (linear, w) in enumerate(self.velocities(v)):
            parent = self.bodies[i].parent
            seen.append(self.places[i].inward(seen[parent] if parent >= 0 else center))
            drifts.append(subtract(seen[i], add(linear, cross(w, self.centers[i]))))
        return drifts

    def momentum(self, v, method: str) -> list:
        """Return the centroidal momentum from those of the bodies, or by the map."""
        if method == "map":
            return [self._product(row, v) for row in transposed(self.centroidal_map())]
        velocities = self.velocities(v)
        return self._at_center(
            [moments.momentum(*V) for moments, V in zip(self.recursions.moments, velocities, strict=True)]
        )

    @staticmethod
    def _product(row, v):
        """Return a row times a vector."""
        total = 0.0
        for x, y in zip(row, v, strict=True):
            total = total + x * y
        return total

    def momentum_rate(self, v, a) -> list:
        """Return the time derivative of the centroidal momentum."""
        states = self.recursions.states(v, a, falling=False)
        moments = self.recursions.moments
        return self._at_center([m.force(s.rate, s.linear) for m, s in zip(moments, states, strict=True)])

    def _at_center(self, forces) -> list:
        """Return the sum of forces or momenta of all bodies about the centre of mass."""
        sums, total = list(forces), (ZERO, ZERO)
        for i in reversed(range(len(self.bodies))):
            f, n = sums[i]
            parent, place = self.bodies[i].parent, self.places[i]
            if parent >= 0:
                sums[parent] = self._sum(sums[parent], place.force(f, n))
            else:
                n = subtract(n, cross(self.centers[i], f))
                total = self._sum(total, (place.rotated(f), place.rotated(n)))
        return total[0] + total[1]

    def kinetic_energy(self, v) -> object:
        """Return the kinetic energy from the motions of the bodies, armature included."""
        twice = 0.0
        for i, (linear, w) in enumerate(self.velocities(v)):
            f, n = self.recursions.moments[i].momentum(linear, w)
            twice = twice + (dot(f, linear) + dot(n, w))
            for d, (k, _) in enumerate(self.recursions.freedoms(i)):
                twice = twice + v[k] * v[k] * self.bodies[i].armature[d]
        return twice * 0.5

    def potential_energy(self) -> object:
        """Return the potential energy, 0 with the centre of mass at the origin of the base."""
        return dot(times(self.recursions.gravity, -self.mass), self.centers[-1])

    def gravity(self) -> list:
        """Return the generalized forces that hold the model at rest, from the moments of subtrees."""
        falling: list = []
        tau: list = [None] * self.recursions.tree.n
        for body, place in zip(self.bodies, self.places, strict=True):
            before = falling[body.parent] if body.parent >= 0 else self.recursions.gravity
            falling.append(place.inward(before))
        for k, i, (linear, _) in self._momenta():
            tau[k] = -dot(linear, falling[i])
        return tau


def _symmetrized(A) -> list:
    """Return A + A^T."""
    return upper(lambda i, j: A[i][j] + A[j][i])
