"""Find out whether PyTorch transforms, traces or records what is done with tensors.

Some of its names are private: where one is missing, the answer is that it does.
"""

from __future__ import annotations

import torch
from torch.autograd import forward_ad

from . import _torch_former_vmap as former_vmap

_transforms = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", None)
_modes = getattr(torch._C, "_len_torch_dispatch_stack", None)
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def is_recorded(arrays) -> bool:
    """Return whether anything but the values is wanted: gradients, a transform of torch.func, a trace."""
    return (torch.is_grad_enabled() and any(x.requires_grad for x in arrays)) or is_transformed(arrays)


def is_transformed(arrays) -> bool:
    """Return whether there is a transform, a level of forward mode, or a trace."""
    if _transforms is None or _transforms() is not None or getattr(forward_ad, "_current_level", 0) >= 0:
        return True
    return not are_plain(arrays)


def are_plain(arrays) -> bool:
    """Return whether all are tensors with memory of their own that no mode of PyTorch observes."""
    if _modes is None or _modes() or former_vmap.is_active():
        return False
    return all(type(x) in _PLAIN for x in arrays)
