"""Programs as C99 that a person can read: the same text for one configuration and for eight at once."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import numpy as np

from . import passes
from .blocks import Block, Trig, blocks
from .expressions import ADD, CONST, COS, INPUT, MUL, RECIP, SUB

ABI = 1
COLUMNS = 100  # of a line, which expressions used once are put into while there is room
SUM, PRODUCT, ATOM = range(3)  # how tightly an expression holds together
RESULTS = {
    "crba": "rows of the lower triangle of H, ancestors of a freedom from the root on, itself last",
    "rnea": "forces for accelerations a",
    "bias": "forces at rest, of gravity and velocities",
    "aba": "accelerations under forces tau",
    "forward_dynamics": "accelerations under forces tau",
    "minv": "inverse of H, all of it",
    "jacobian": "J, linear and angular velocities in the axes of the joints {tips}",
    "loops": "accelerations under forces tau, all loops closed, the rest of v following from {free}",
    "loop_velocity": "v with all loops closed, the rest following from {free}",
    "loop_step": "step in v that closes the loops, to be integrated, 0 for {free}",
    "loop_gap": "what the loops are open by, in axes of the base",
    "delassus": "J H^-1 J^T, velocities in the axes of the joints {tips}",
}
SUPPORT = Path(__file__).parents[1] / "c"  # texts that are the same for all programs
SIGNATURE = "const double *q, const double *v, const double *u, double *out"


def sources(program, functions: Iterable[str] | None = None) -> dict[str, str]:
    """Texts of all files that functions of a program need to be compiled, by file name.

    Parameters
    ----------
    program : Program
    functions : sequence of str, optional
        Some of those in the program; by default all.

    Returns
    -------
    dict of str to str
        The same for the same program, byte for byte.
    """
    chosen = program.chosen(functions)
    texts = {
        "real.h": (SUPPORT / "real.h").read_text(encoding="utf-8"),
        "sincos.h": (SUPPORT.parent.parent / "kernels" / "common" / "sincos.h").read_text(encoding="utf-8"),
        "dynamics.h": _header(program, chosen),
    }
    for function in chosen:
        texts[f"{function.name}.c"] = f'{_about(program, function)}#include "real.h"\n\n{_body(function)}'
    digest = sha256("".join(texts.values()).encode()).hexdigest()
    return texts | {"dynamics.c": _identity(digest)}


def c_source(program, functions: Iterable[str] | None = None) -> str:
    """Functions as one text that compiles by itself: `tf_NAME`, or with -DLANES=8 `tf_NAME_x8`."""
    chosen = program.chosen(functions)
    texts = sources(program, functions)
    support = texts["real.h"].replace('#include "sincos.h"\n', texts["sincos.h"])
    return "\n".join([support, *(_about(program, function) + _body(function) for function in chosen)])


def plain(name: str) -> str:
    """A user's string for a comment: letters, digits, spaces and ``,.-``, at most 60 of them."""
    return re.sub(r"[^A-Za-z0-9 ,.-]", "_", name)[:60]


def _result(program, function) -> str:
    """What a function returns."""
    tips, free = (", ".join(map(plain, names)) for names in (program.tips, program.independent))
    return RESULTS[function.name].format(tips=tips, free=free)


def _about(program, function) -> str:
    """What a function is, and what it costs."""
    size = ", ".join(f"{name}[{size}]" for name, size in function.inputs)
    count = function.operations
    return (
        f"/* {function.name} of {plain(program.model)}: out[{function.output.size}] from {size}\n"
        f" * out: {_result(program, function)}\n"
        f" * {count.mul} multiplications, {count.add} additions, {count.div} divisions, "
        f"{count.trig} sines and cosines; {plain(function.variant)}\n"
        " */\n"
    )


def _header(program, chosen) -> str:
    """Prototypes."""
    lines = [
        f"/* Dynamics of {plain(program.model)}: {program.nq} entries of q, {program.nv} of v.",
        " * Functions ignore the arguments they do not take; out may not overlap any. Where they end in _x8,",
        " * entry e of configuration l is x[8 e + l]. They keep nothing: any number of threads may call.",
        " */",
        "#ifndef TF_DYNAMICS_H",
        "#define TF_DYNAMICS_H",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"int tf_abi(void);             /* {ABI} */",
        "const char *tf_hash(void);    /* of these files */",
    ]
    for function in chosen:
        size = ", ".join(
            f"{letter} = {name}[{size}]" for letter, (name, size) in zip("qvu", function.inputs, strict=False)
        )
        lines += ["", f"/* {_result(program, function)}: out[{function.output.size}] from {size} */"]
        lines += [f"void tf_{function.name}{form}({SIGNATURE});" for form in ("", "_x8")]
    return "\n".join([*lines, "", "#ifdef __cplusplus", "}", "#endif", "#endif", ""])


def _identity(digest: str) -> str:
    """What a loader asks first."""
    return (
        '/* What these files are. */\n#include "dynamics.h"\n\n'
        f'#ifndef TF_HASH\n#define TF_HASH "{digest}"\n#endif\n\n'
        f"int tf_abi(void) {{ return {ABI}; }}\n"
        "const char *tf_hash(void) { return TF_HASH; }\n"
    )


def _body(function) -> str:
    """One function for every block, and the one that calls them."""
    found, slots = blocks(function)
    inlined = set(np.flatnonzero(passes.inlined(function)).tolist())
    letters = dict(zip((argument for argument, _ in function.inputs), "qvu", strict=False))
    storage = "BLOCK" if slots else "static"
    lines, calls = [], []
    for k, block in enumerate(found, start=1):
        written = _Lines(function, block, inlined)
        given = {
            f"const double *restrict {x}": f"{letters[x]} + l" for x in letters if x in written.arguments
        }
        given |= {"double *restrict out": "out + l"} if block.outputs else {}
        given |= {"real *restrict w": "w"} if slots else {}
        lines += [f"{storage} void {function.name}_{k}({', '.join(given)})", "{"]
        lines += [f"    {line}" if line else "" for line in written.lines]
        lines += ["}", ""]
        calls.append(f"        {function.name}_{k}({', '.join(given.values())});")
    lines += [f"void FN({function.name})({SIGNATURE})", "{"]
    lines += [f"    real w[{slots}];"] * bool(slots)
    lines += [f"    (void){x};" for x in "qvu"]
    return "\n".join([*lines, "    PASSES {", *calls, "    }", "}", ""])


class _Lines:
    """Statements of a block; those used once stand where they are used.

    Parameters
    ----------
    function : Function
    block : Block
    inlined : set of int
        Rows that are used once.
    """

    def __init__(self, function, block: Block, inlined: set[int]):
        self.op, self.a, self.b = (column.tolist() for column in (function.op, function.a, function.b))
        self.value, self.names = function.value.tolist(), [name for name, _ in function.inputs]
        self.block = block
        self.texts: dict[int, tuple[str, int]] = {row: (f"w[{k}]", ATOM) for row, k in block.taken.items()}
        self.loaded: set[tuple[int, int]] = set()  # numbers of arguments, and entries
        self.lines: list[str] = []
        for step in block.steps:
            if isinstance(step, Trig):
                self.sincos(step)
            else:
                self.texts[step] = self.expression(step)
                if step not in inlined or step in block.kept:
                    self.state(step)
        outputs = [self.output(function, entry) for entry in block.outputs]
        loads = [
            f"const real {self.names[k]}{e} = load({self.names[k]}, {e});" for k, e in sorted(self.loaded)
        ]
        self.lines = [*loads, *[""] * bool(loads), *self.lines, *[""] * bool(outputs), *outputs]

    @property
    def arguments(self) -> set[str]:
        """Arguments that are read."""
        return {self.names[k] for k, _ in self.loaded}

    def expression(self, row: int) -> tuple[str, int]:
        """Text of a row."""
        op, a, b = self.op[row], self.a[row], self.b[row]
        if op == RECIP:
            divisor = self.operand(a, SUM if b else ATOM, self.op[a] == CONST)
            if b:
                return f"reciprocal({divisor}, {'0.0, INFINITY' if b > 0 else '-INFINITY, 0.0'})", ATOM
            return f"1.0 / {divisor}", PRODUCT
        tight = PRODUCT if op == MUL else SUM
        left = self.operand(a, tight, self.op[a] == self.op[b] == CONST)
        right = self.operand(b, tight + 1)
        if len(left) + len(right) > COLUMNS:
            longer = a if len(left) > len(right) else b
            if self.texts.get(longer, ("", ATOM))[1] < ATOM:
                self.state(longer)
                return self.expression(row)
        return f"{left} {({ADD: '+', SUB: '-', MUL: '*'})[op]} {right}", tight

    def operand(self, row: int, tight: int, vector: bool = False) -> str:
        """Text of an operand, in brackets where it holds together less tightly than it must."""
        if self.op[row] == CONST:
            return f"constant({self.value[row]!r})" if vector else repr(self.value[row])
        if self.op[row] == INPUT:
            self.loaded.add((self.a[row], self.b[row]))
            return f"{self.names[self.a[row]]}{self.b[row]}"
        text, held = self.texts[row]
        return text if held >= tight else f"({text})"

    def state(self, row: int) -> None:
        """A statement of its own for a row."""
        self.lines.append(f"const real t{row} = {self.texts[row][0]};")
        self.texts[row] = f"t{row}", ATOM
        if row in self.block.kept:
            self.lines.append(f"w[{self.block.kept[row]}] = t{row};")

    def sincos(self, step: Trig) -> None:
        """Sines and cosines of all angles in one call."""
        n, first = len(step.angles), step.angles[0]
        angles = ", ".join(self.operand(row, SUM, True) for row in step.angles)
        angle, sine, cosine = (f"{name}{first}" for name in ("angle", "sine", "cosine"))
        self.lines += [
            f"real {angle}[ROOM({n})] = {{",
            *(f"    {line}" for line in textwrap.wrap(angles, COLUMNS)),
            "};",
            f"real {sine}[ROOM({n})], {cosine}[ROOM({n})];",
            f"sincos_of({angle}, {sine}, {cosine});",
        ]
        for row in step.rows:
            of = cosine if self.op[row] == COS else sine
            self.texts[row] = f"{of}[{step.angles.index(self.a[row])}]", ATOM
            self.state(row)

    def output(self, function, entry: int) -> str:
        """An entry of the result."""
        row, sign = int(function.output[entry]), "-" if function.sign[entry] < 0 else ""
        return f"store(out, {entry}, {sign}{self.operand(row, ATOM, True)});"
