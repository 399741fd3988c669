"""Run rules under PyTorch's former vmap, which `gradcheck` and ``is_grads_batched`` use, not torch.func.vmap.

It knows no rules of others. Its tensors hide the mapped axis: here it becomes part of the axis of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

_included = getattr(torch._C, "_dispatch_tls_is_dispatch_key_included", lambda key: False)


def is_active() -> bool:
    """Return whether the former vmap maps the code that runs."""
    return _included("VmapMode")


def with_batches(compute: Callable, arrays: Sequence[torch.Tensor]) -> list:
    """Return what compute(arrays) returns, for arrays of shape (batch, ...), of which some may be mapped."""
    level = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    return _at_level(compute, arrays, level)


def _at_level(compute: Callable, arrays: Sequence[torch.Tensor], level: int) -> list:
    """Return what compute(arrays) returns, for arrays that are mapped at this level of nesting or below."""
    if level == 0:
        return list(compute(arrays))
    bare = [torch._remove_batch_dim(x, level, 0, 0) for x in arrays]  # an axis of length 0 if not mapped
    size = max(len(x) for x in bare)
    if size == 0:
        return _at_level(compute, arrays, level - 1)
    batch = arrays[0].shape[0]
    merged = [
        (y if len(y) else x.expand(size, *x.shape)).reshape(size * batch, *x.shape[1:])
        for x, y in zip(arrays, bare, strict=True)
    ]
    return [
        y if y is None else torch._add_batch_dim(y.reshape(size, batch, *y.shape[1:]), 0, level)
        for y in _at_level(compute, merged, level - 1)
    ]
