"""Write functions of programs as CUDA kernels with the statements of `emit_c`: one configuration per thread.

The text is C, so that a compiler of the host takes it, too, if it knows the words of CUDA.
"""

from __future__ import annotations

import numpy as np

from . import passes
from .blocks import split_into_blocks
from .emit_c import SUPPORT, VARIABLES, Lines, about
from .names import identifier
from .precision import DOUBLE, Precision

ARCHITECTURE = "compute_70"  # oldest devices that kernels are compiled for
THREADS = 64  # threads of a block; few, because straight-line code uses most registers a thread can have
INPUT = "const {1} *restrict {0}, long long {0}_stride"
OUTPUT = "{0} *restrict out, long long out_stride"


def kernel_name(function) -> str:
    """Return the name of the kernel of a function."""
    return f"tf_{identifier(function.name)}"


def source(program, function, precision: Precision = DOUBLE) -> str:
    """Return the self-contained text of the kernel of a function.

    Parameters
    ----------
    program : Program
    function : Function
        One of the program's.
    precision : Precision

    Returns
    -------
    str
        Of a kernel of (count, then for every input x its address, x_stride and x_step, then the address of
        out and out_stride). Entry e of x of configuration i < count is at ``e * x_stride + i * x_step``,
        entry e of its result at ``e * out_stride + i``.
    """
    support = (SUPPORT / "cuda.h").read_text(encoding="utf-8")
    head = f"#define THREADS {THREADS}\n" + "#define SINGLE\n" * precision.is_single
    return f"{head}{support}\n{about(program, function)}{_body(function, precision)}"


def _body(function, precision: Precision) -> str:
    """Write one function per block, and the kernel that calls them."""
    (blocks, slots), name = split_into_blocks(function), identifier(function.name)
    inlined = set(np.flatnonzero(passes.inlined(function)).tolist())
    names = [VARIABLES.get(argument, argument) for argument, _ in function.inputs]
    lines, calls, number = [], [], precision.c_type
    for k, block in enumerate(blocks, start=1):
        written = Lines(function, block, inlined, precision)
        passed = {
            INPUT.format(x, number): f"{x} + i * {x}_step, {x}_stride"
            for x in names
            if x in written.arguments
        }
        passed |= {OUTPUT.format(number): "out + i, out_stride"} if block.outputs else {}
        passed |= {"real *restrict w": "w"} if slots else {}
        lines += [f"{'BLOCK' if slots else 'INLINE'} void {name}_{k}({', '.join(passed)})", "{"]
        lines += [f"    {line}" if line else "" for line in written.lines]
        lines += ["}", ""]
        calls.append(f"    {name}_{k}({', '.join(passed.values())});")
    arrays = (f"{INPUT.format(x, number)}, long long {x}_step" for x in names)
    parameters = ["long long count", *arrays, OUTPUT.format(number)]
    lines += [f"KERNEL void {kernel_name(function)}(", "    " + ",\n    ".join(parameters) + ")", "{"]
    lines += ["    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;"]
    lines += ["    if (i >= count) return;"]
    lines += [f"    real w[{slots}];"] * bool(slots)
    return "\n".join([*lines, *calls, "}", ""])
