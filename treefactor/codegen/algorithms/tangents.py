"""Change between rates of the entries of q and rates along `integrate`, on scalars of any type.

Quaternions and pairs of cosine and sine have unit length. Half a product of quaternions is the rate of one;
the position of a free joint moves in the axes of its body.
"""

from __future__ import annotations

from collections.abc import Iterator

from .matrices import AxisRotation, Quaternion, apply, cross, times, transposed


def entry_rates(model, q, rates) -> list:
    """Return the rates of the entries of q for rates along `integrate`."""
    q_rates: list = [0.0] * model.nq
    for at, v, kind in _joints(model):
        q_rates[at : at + len(_moved(kind, q[at:], rates[v:]))] = _moved(kind, q[at:], rates[v:])
    return q_rates


def _joints(model) -> Iterator[tuple[int, int, str]]:
    """Yield the first entries in q and v, and the kind, of all joints that do not follow another one."""
    for i, joint in enumerate(model.joints):
        if joint.mimic is None:
            yield int(model.idx_q[i]), int(model.idx_v[i]), joint.kind


def _moved(kind: str, q, x) -> list:
    """Return the rates of the entries of one joint."""
    if kind == "continuous":
        return [-(q[1] * x[0]), q[0] * x[0]]
    if kind == "planar":
        return [
            *AxisRotation(2, q[2], q[3]).vector([x[0], x[1], 0.0])[:2],
            *_moved("continuous", q[2:], x[2:]),
        ]
    if kind == "spherical":
        (a, b, c, d), half = q[:4], times(x[:3], 0.5)
        turned = cross([a, b, c], half)
        return [
            *(d * y + z for y, z in zip(half, turned, strict=True)),
            -(a * half[0] + b * half[1] + c * half[2]),
        ]
    if kind == "freeflyer":
        return [*apply(Quaternion(*q[3:7]).R, x[:3]), *_moved("spherical", q[3:], x[3:])]
    return list(x[: {"universal": 2, "translation": 3}.get(kind, 1)])


def gradient_by_motion(model, q, gradient) -> list:
    """Return the gradient along `integrate` from that by the entries of q: transpose of `entry_rates`."""
    by_motion: list = [0.0] * model.nv
    for at, v, kind in _joints(model):
        part = _gathered(kind, q[at:], gradient[at:])
        by_motion[v : v + len(part)] = part
    return by_motion


def _gathered(kind: str, q, g) -> list:
    """Return the gradient along the motions of one joint."""
    if kind == "continuous":
        return [q[0] * g[1] - q[1] * g[0]]
    if kind == "planar":
        turn = AxisRotation(2, q[2], q[3]).inverse
        return [*turn.vector([g[0], g[1], 0.0])[:2], *_gathered("continuous", q[2:], g[2:])]
    if kind == "spherical":
        (a, b, c, d), (half, (last,)) = q[:4], (times(g[:3], 0.5), times(g[3:4], 0.5))
        turned = cross(half, [a, b, c])
        return [d * y + z - x * last for x, y, z in zip((a, b, c), half, turned, strict=True)]
    if kind == "freeflyer":
        return [
            *apply(transposed(Quaternion(*q[3:7]).R), g[:3]),
            *_gathered("spherical", q[3:], g[3:]),
        ]
    return list(g[: {"universal": 2, "translation": 3}.get(kind, 1)])


def half_bracket(model, x, g) -> list:
    """Return ad_x^T g / 2 of all joints: half the asymmetry of the derivative of a gradient g along x.

    The derivative of a gradient along `integrate` is not symmetric where a joint turns about several axes:
    it exceeds the Hessian by this.
    """
    bracket: list = [0.0] * model.nv
    for _, v, kind in _joints(model):
        if kind == "spherical":
            bracket[v : v + 3] = times(cross(g[v : v + 3], x[v : v + 3]), 0.5)
        elif kind == "freeflyer":
            bracket[v : v + 6] = _half(x[v : v + 3], x[v + 3 : v + 6], g[v : v + 3], g[v + 3 : v + 6])
        elif kind == "planar":
            plane = _half(
                [*x[v : v + 2], 0.0], [0.0, 0.0, x[v + 2]], [*g[v : v + 2], 0.0], [0.0] * 2 + [g[v + 2]]
            )
            bracket[v : v + 3] = [plane[0], plane[1], plane[5]]
    return bracket


def _half(linear, angular, f, n) -> list:
    """Return half of -(x cross a force) for a motion x = (linear, angular)."""
    moment = [-(a + b) for a, b in zip(cross(angular, n), cross(linear, f), strict=True)]
    return times([*(-y for y in cross(angular, f)), *moment], 0.5)
