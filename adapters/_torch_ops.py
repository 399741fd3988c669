"""Operators of PyTorch for the maps of array functions: differentiated, mapped and compiled by its own means.

In eager mode a call is an autograd Function, which all of torch.func supports; under torch.compile it is an
operator, whose kernel for autograd is that Function. Calls that nothing records run the map at once.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.autograd import forward_ad

from ..exceptions import AdapterError
from ..model.digests import digest, number_of
from . import _torch_former_vmap as former_vmap
from ._maps import MappedFunction, Shapes
from ._programs import find_function, model_of
from ._torch_rules import rules_of
from ._torch_transforms import are_plain, is_recorded, is_transformed

_below_autograd = getattr(torch._C, "_AutoDispatchBelowAutograd", None)
_is_gradient_tracked = getattr(getattr(torch._C, "_functorch", None), "is_gradtrackingtensor", None)
KINDS = ("value", "jvp", "vjp", "hvp")
_library = torch.library.Library("treefactor", "DEF")
_functions: dict[int, tuple[MappedFunction, Any]] = {}  # by number, for the life of the process
_signatures: dict[
    tuple, tuple[Signature, MappedFunction]
] = {}  # by id of the model, which stays alive, and options


class Signature(NamedTuple):
    """Number of a function, by which operators find it, names of its inputs, all shapes, and its dtypes."""

    number: int
    names: tuple[str, ...]
    inputs: Shapes
    outputs: Shapes
    dtypes: tuple[torch.dtype, ...]


@torch.compiler.assume_constant_result
def signature(name: str, model, options: tuple[tuple[str, Any], ...] = ()) -> Signature:
    """Return the number and the shapes of a function; torch.compile evaluates this when it traces."""
    kept = _signatures.get((id(model), name, options))
    return kept[0] if kept else _register(name, model, options)


def _register(name: str, model, options: tuple[tuple[str, Any], ...]) -> Signature:
    """Number a function by its content, so that programs in a cache find the same function in any process."""
    function = find_function(name, model, **dict(options))
    number = number_of(digest(model_of(model)), *function.key)
    if number not in _functions:
        _functions[number] = (function, rules_of(function, partial(call, number=number), _find))
    shapes = (tuple(one.shape for one in each) for each in (function.inputs, function.outputs))
    narrow = function.kernels is not None and function.kernels.dtype == np.float32
    dtypes = (torch.float32,) if narrow else (torch.float64, torch.float32)
    own = Signature(number, tuple(one.name for one in function.inputs), *shapes, dtypes)
    return _signatures.setdefault((id(model), name, options), (own, function))[0]


def _find(name: str, model, options: tuple[tuple[str, Any], ...]):
    """Return the call of the maps of a function."""
    return partial(call, number=signature(name, model, options).number)


def _function(number: int) -> tuple[MappedFunction, Any]:
    """Return the function of a number and its rules."""
    try:
        return _functions[number]
    except KeyError:
        raise AdapterError(
            f"this process has no function of number {number}: before running a program that was compiled "
            "elsewhere, call the function of torch_ with its model once",
            engine="torch",
        ) from None


def call(kind: str, *arrays: torch.Tensor, number: int):
    """Call a map of a function with arrays of shape (batch, ...), each as its inputs; returns its outputs."""
    if torch.compiler.is_dynamo_compiling():
        return _operators[kind](number, arrays)
    if not is_recorded(arrays):
        return compute(kind, number, arrays)
    return (Call if is_transformed(arrays) else PlainCall).apply(kind, number, *arrays)


def compute(kind: str, number: int, arrays) -> list[torch.Tensor]:
    """Run a map on tensors: in their own memory if they are contiguous and of its dtype."""
    inputs = [x.detach().numpy() for x in arrays]
    return [torch.from_numpy(y) for y in run(kind, number, inputs, len(inputs[0]), inputs[0].dtype)]


def run(kind: str, number: int, inputs, batch: int, dtype) -> list[np.ndarray]:
    """Run a map on arrays of shape (batch, ...), in its dtype; the outputs have the dtype that is given."""
    one = _function(number)[0].map(kind)
    outputs = [np.empty((batch, *shape), one.dtype) for shape in one.outputs]
    if batch:
        one.run([np.ascontiguousarray(x, one.dtype) for x in inputs], outputs)
    return outputs if dtype == one.dtype else [y.astype(dtype) for y in outputs]


class Call(torch.autograd.Function):
    """Call of a map of a function, with the derivatives that the function's rules give."""

    @staticmethod
    def forward(kind: str, number: int, *arrays):
        if are_plain(arrays):
            return tuple(compute(kind, number, arrays))
        if former_vmap.is_active():
            return tuple(former_vmap.with_batches(partial(compute, kind, number), arrays))
        if _below_autograd is None:
            raise AdapterError(
                f"torch {torch.__version__} cannot trace functions of treefactor: call them outside of "
                "torch.compile, make_fx and FakeTensorMode",
                engine="torch",
            )
        with _below_autograd():
            return tuple(_operators[kind](number, arrays))

    @staticmethod
    def setup_context(ctx, inputs, output):
        kind, number, *arrays = inputs
        ctx.save_for_forward(*_keep(ctx, kind, number, arrays, output))

    @staticmethod
    def backward(ctx, *weights):
        gradients = _by_rule(ctx, ctx.saved_tensors, "pull", weights, ctx.needs_input_grad[2:])
        return None, None, *gradients

    @staticmethod
    def jvp(ctx, _kind, _number, *changes):
        with forward_ad._set_fwd_grad_enabled(True):  # PyTorch turns it off here, also for outer transforms
            kept = [forward_ad.unpack_dual(x).primal for x in ctx.saved_tensors]
            pairs = zip(kept[: ctx.count], changes, strict=True)
            changes = [torch.zeros_like(x) if dx is None else dx for x, dx in pairs]
            return tuple(_by_rule(ctx, kept, "push", changes))

    @staticmethod
    def vmap(info, axes, kind: str, number: int, *arrays):
        return _mapped(partial(call, kind, number=number), info.batch_size, axes[2:], arrays)


Call.forward.__signature__ = inspect.signature(Call.forward)  # PyTorch binds it in every call


class PlainCall(torch.autograd.Function):
    """The same call where nothing but gradients is recorded: in less time."""

    @staticmethod
    def forward(ctx, kind: str, number: int, *arrays):
        outputs = tuple(compute(kind, number, arrays))
        _keep(ctx, kind, number, arrays, outputs)
        return outputs

    backward = Call.backward


def _keep(ctx, kind: str, number: int, arrays, outputs) -> tuple:
    """Keep what derivatives of a call need; return its tensors."""
    ctx.kind, ctx.number, ctx.count = kind, number, len(arrays)
    kept = (*arrays, *outputs) if _function(number)[1].keeps_outputs else tuple(arrays)
    ctx.save_for_backward(*kept)
    return kept


def _by_rule(ctx, kept, name: str, given, *more) -> list:
    """Return what a rule of a call's function returns for gradients of outputs, or for changes of inputs."""
    rule, count, end = getattr(_function(ctx.number)[1], name), ctx.count, len(kept)

    def compute(arrays):
        return rule(ctx.kind, arrays[:count], arrays[count:end], arrays[end:], *more)

    arrays = (*kept, *given)
    return former_vmap.with_batches(compute, arrays) if former_vmap.is_active() else compute(arrays)


def _mapped(compute, size: int, axes, arrays):
    """Call a map once for all elements of a mapped axis, and of the axis of the batch."""
    arrays = [
        x.expand(size, *x.shape) if axis is None else x.movedim(axis, 0)
        for x, axis in zip(arrays, axes, strict=True)
    ]
    batch = arrays[0].shape[1]
    outputs = compute(*(x.reshape(size * batch, *x.shape[2:]) for x in arrays))
    return tuple(y.reshape(size, batch, *y.shape[1:]) for y in outputs), (0,) * len(outputs)


def _kernel_for_autograd(kind: str, number: int, arrays):
    """Call the Function; refuse where PyTorch would drop it: in transforms of torch.func that it compiles."""
    if _is_gradient_tracked is None or any(_is_gradient_tracked(x) for x in arrays):
        raise RuntimeError(
            "treefactor's functions cannot be compiled within torch.func.grad, vjp, jvp, or what is built on "
            "them: apply the transform to a function that is not compiled, compile a function that calls "
            "backward() instead, or put torch.compiler.disable around the transformed function"
        )
    return list(Call.apply(kind, number, *arrays))


def _empty_outputs(kind: str, number: int, arrays):
    """Return tensors like the outputs, for traces."""
    shapes = _function(number)[0].map(kind).outputs
    return [arrays[0].new_empty((arrays[0].shape[0], *shape)) for shape in shapes]


def _rule_for_vmap(kind: str, info, axes, number: int, arrays):
    """Call an operator once for all elements of a mapped axis."""

    def compute(*arrays):
        return _operators[kind](number, arrays)

    outputs, positions = _mapped(compute, info.batch_size, axes[1], arrays)
    return list(outputs), list(positions)


def _define(kind: str):
    """Define the operator ``treefactor::kind``."""
    name = f"treefactor::{kind}"
    _library.define(f"{kind}(int number, Tensor[] arrays) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))
    _library.impl(kind, partial(compute, kind), "CPU")
    _library.impl(kind, partial(_kernel_for_autograd, kind), "Autograd")
    torch.library.register_fake(name, partial(_empty_outputs, kind), lib=_library)
    torch.library.register_vmap(name, partial(_rule_for_vmap, kind), lib=_library)
    return getattr(torch.ops.treefactor, kind).default


_operators = {kind: _define(kind) for kind in KINDS}
