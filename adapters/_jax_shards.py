"""Give arrays of one call the same type within `jax.shard_map`, which tracks what differs between shards."""

from __future__ import annotations

import jax


def _axes(aval) -> frozenset:
    """Return the mesh axes along which an array differs; none outside of shard_map."""
    kind = getattr(aval, "manual_axis_type", None)
    return frozenset() if kind is None else kind.varying


def alike(operands: list) -> list:
    """Return operands that all differ along the axes along which any of them does."""
    axes = [_axes(jax.typeof(x)) for x in operands]
    union = frozenset().union(*axes)
    return [_vary(x, union - own) if union - own else x for x, own in zip(operands, axes, strict=True)]


def _vary(x, axes: frozenset):
    """Return an array that counts as differing along some more axes."""
    return jax.lax.pcast(x, tuple(sorted(axes, key=str)), to="varying")


def like(aval, shape: tuple[int, ...]):
    """Return the type of a result: that of an operand, with another shape."""
    if _axes(aval):
        return aval.update(
            shape=shape, weak_type=False, sharding=aval.sharding.update(spec=(None,) * len(shape))
        )
    return jax.core.ShapedArray(shape, aval.dtype)
