"""Write programs as readable C99; of float64 the same text compiles for one configuration and for eight."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import numpy as np

from . import passes
from .blocks import Block, Trig, split_into_blocks
from .expressions import ADD, ATAN2, CONST, COS, INPUT, MUL, RECIP, SQRT, SUB
from .limbs import limbs_of, pairs
from .names import FrameFunction, identifier, routine
from .precision import DOUBLE, SINGLE, Precision
from .single import Single

ABI = 1
LONG = 20_000  # most statements of a function that has a form for one configuration
SHORT, LEAST_WIDTH = 1000, 4  # lines; longer ones are slower than blocks where registers are narrow and few
MORE = 1.1  # alternatives with more than this many times the operations of the function take more time
WORTH = 0.9  # part of the lines of a long form that must be left with limbs in registers
COLUMNS = 100  # longest expression that single-use operands are inlined into
SUM, PRODUCT, ATOM = range(3)  # precedence of an expression
SUPPORT = Path(__file__).parents[1] / "c"  # files that are the same for all programs
COMMON = SUPPORT.parents[1] / "kernels" / "common"  # files that programs share with the interpreter
VARIABLES = {"w": "weight"}  # C names of arguments with other names


def sources(program, functions: Iterable[str] | None = None, precision: Precision = DOUBLE) -> dict[str, str]:
    """Return the texts of all files needed to compile functions of a program, by file name.

    Parameters
    ----------
    program : Program
    functions : sequence of str, optional
        Names of functions of the program. Default: all.
    precision : Precision
        In single precision there is no form for one configuration.

    Returns
    -------
    dict of str to str
        Deterministic: equal programs give equal bytes.
    """
    chosen = program.chosen(functions)
    texts = {
        "real.h": (SUPPORT / "real.h").read_text(encoding="utf-8"),
        **{name: (COMMON / name).read_text(encoding="utf-8") for name in _included(precision)},
        "dynamics.h": _header(program, chosen, precision),
    }
    for function, name in zip(chosen, file_names([function.name for function in chosen]), strict=True):
        body = _body(program, function, precision)
        single = "#define SINGLE\n" * precision.is_single
        texts[name] = f'{about(program, function)}{single}#include "real.h"\n\n{body}'
    digest = sha256("".join(texts.values()).encode()).hexdigest()
    return texts | {"dynamics.c": _identity(digest)}


def _included(precision: Precision) -> tuple[str, ...]:
    """Return the files with sines and arc tangents in a precision."""
    return ("sincos_single.h",) if precision.is_single else ("sincos.h", "arctan.h")


def signature(precision: Precision) -> str:
    """Return the parameters of a function in C."""
    number = precision.c_type
    return f"const {number} *q, const {number} *v, const {number} *u, {number} *out"


def file_names(functions: Iterable[str]) -> list[str]:
    """Return the names of the C files of functions; also file systems that ignore case tell them apart."""
    names = [identifier(name) for name in functions]
    same = Counter(name.casefold() for name in names)
    return [
        f"{name}.c" if same[name.casefold()] == 1 else f"{name}___{sha256(name.encode()).hexdigest()[:16]}.c"
        for name in names
    ]


def c_source(program, functions: Iterable[str] | None = None) -> str:
    """Return functions as one self-contained text: `tf_NAME`, or with -DLANES=8 `tf_NAME_x8`."""
    chosen = program.chosen(functions)
    texts = sources(program, functions)
    support = texts["real.h"]
    for name in (*_included(SINGLE), *_included(DOUBLE)):
        support = support.replace(f'#include "{name}"\n', texts.get(name, ""))
    functions = (about(program, function) + _body(program, function, DOUBLE) for function in chosen)
    return "\n".join([support, *_about_parameters(program), *functions])


def plain(name: str) -> str:
    """Make a user's string safe for a comment: at most 60 letters, digits, spaces and ``,.:+-``."""
    return re.sub(r"[^A-Za-z0-9 ,.:+-]", "_", name)[:60]


def _entries(program) -> list[str]:
    """Return lines of a comment on the entries of q and v, with names made as safe as by `plain`."""
    safe = [re.sub(r"[^A-Za-z0-9 ,.:;+\[\]-]", "_", line)[:150] for line in program.entries]
    head = [" * Entries of the joints: q[3:7] are q[3] to q[6]; a quaternion ends with its scalar w:"]
    return [*(head if safe else []), *(f" *   {line}" for line in safe)]


def _result(program, function) -> str:
    """Describe the result of a function."""
    tips, free = (", ".join(map(plain, names)) for names in (program.tips, program.independent))
    results = []
    for name in function.parts:
        of, given = FrameFunction.of(name), {"tips": tips, "free": free}
        if of is not None:
            given |= {"frame": plain(of.frame), "options": ", ".join(of.options)}
        results.append(routine(name).text.format(**given))
    return "; ".join(results)


def about(program, function) -> str:
    """Return the comment above a function: arguments, result and operation counts."""
    size = ", ".join(f"{name}[{size}]" for name, size in function.inputs)
    count = function.operations
    return (
        f"/* {plain(function.name)} of {plain(program.model)}: out[{function.output.size}] from {size}\n"
        f" * out: {_result(program, function)}\n"
        f" * {count.mul} multiplications, {count.add} additions, {count.div} divisions, "
        f"{_transcendental(count)}; {plain(function.variant)}\n"
        " */\n"
    )


def _about_parameters(program) -> list[str]:
    """Return the comment that defines the entries of pi; no lines if the functions do not take them."""
    if program.parameter_map is None:
        return []
    lines = [
        "/* pi: inertial parameters, m in kg, h = m c in kg m, and tensor I about the origin in kg m^2 of",
        " * what every joint carries, in axes of the joint, combined:",
    ]
    for row in range(program.parameter_map.size):
        text = f"pi[{row}] = {program.parameter_map.text(row, plain)}"
        lines += textwrap.wrap(text, COLUMNS, initial_indent=" * ", subsequent_indent=" *     ")
    own = "of this model: " + ", ".join(map(repr, program.parameters().tolist()))
    lines += textwrap.wrap(own, COLUMNS, initial_indent=" * ", subsequent_indent=" *     ")
    return [*lines, " */"]


def _transcendental(count) -> str:
    """Describe the counts of square roots and of trigonometric functions."""
    if not count.sqrt:
        return f"{count.trig} sines and cosines"
    return f"{count.sqrt} square roots, {count.trig} sines, cosines and arc tangents"


def _header(program, chosen, precision: Precision) -> str:
    """Return the header with the prototypes."""
    lanes = precision.lanes
    lines = [
        f"/* Dynamics of {plain(program.model)}: {program.nq} entries of q, {program.nv} of v.",
        " * Functions ignore the arguments they do not take; out must not overlap any. "
        f"In functions *_x{lanes},",
        f" * entry e of configuration l is x[{lanes} e + l]. No state is kept: functions are thread-safe.",
        *_entries(program),
        " */",
        *_about_parameters(program),
        "#ifndef TF_DYNAMICS_H",
        "#define TF_DYNAMICS_H",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"int tf_abi(void);             /* {ABI} */",
        "const char *tf_hash(void);    /* digest of these files */",
    ]
    for function in chosen:
        size = ", ".join(
            f"{letter}{f' + {at}' if at else ''} = {name}[{size}]"
            for (letter, at), (name, size) in zip(function.places, function.inputs, strict=True)
        )
        lines += ["", f"/* {_result(program, function)}: out[{function.output.size}] from {size} */"]
        forms = (f"_x{precision.lanes}",) if precision.is_single else ("", "_x8")
        lines += [f"void tf_{identifier(function.name)}{form}({signature(precision)});" for form in forms]
    return "\n".join([*lines, "", "#ifdef __cplusplus", "}", "#endif", "#endif", ""])


def _identity(digest: str) -> str:
    """Return the file that identifies a library: ABI version and hash of the sources."""
    return (
        '/* Identifies these files. */\n#include "dynamics.h"\n\n'
        f'#ifndef TF_HASH\n#define TF_HASH "{digest}"\n#endif\n\n'
        f"int tf_abi(void) {{ return {ABI}; }}\n"
        "const char *tf_hash(void) { return TF_HASH; }\n"
    )


def _body(program, function, precision: Precision) -> str:
    """Write the form for one configuration, and that for several; long functions have one form for both."""
    several = _blocks(function, precision)
    single = None if precision.is_single else _single(program, function)
    if single is None:
        return several
    width = max(single.widest, LEAST_WIDTH if len(single.lines) > SHORT else 1)
    condition = "LANES == 1" + f" && WIDTH >= {width}" * (width > 1)
    lines = [f"#if {condition}", f"void FN({identifier(function.name)})({signature(precision)})", "{"]
    lines += [f"    {line}" for line in (*(f"(void){x};" for x in "qvu"), *single.lines)]
    return "\n".join([*lines, "}", "#else", several + "#endif", ""])


def _single(program, function) -> Single | None:
    """Write the form for one configuration, from the alternative with the least estimated time.

    Returns None if all are long: without limbs to save statements, blocks of them are faster.
    """
    few = [x for x in function.alternatives if x.operations.total <= MORE * function.operations.total]
    forms = [function, *few, *(passes.gather(x) for x in few if x.variant != function.variant)]
    groups, candidates = limbs_of(program.parent.tolist()), []
    for form in forms:
        if form.rows - form.first > LONG:
            continue
        alone = Single(form, [])
        if len(alone.lines) <= SHORT:
            candidates.append(alone)
        if groups:
            together = Single(form, pairs(form, groups, program.nq - program.nv))
            if len(together.lines) <= max(SHORT, WORTH * len(alone.lines)):
                candidates.append(together)
    return min(candidates, key=lambda single: single.cycles, default=None)


def _blocks(function, precision: Precision) -> str:
    """Write one function per block, and the function that calls them."""
    (blocks, slots), name = split_into_blocks(function), identifier(function.name)
    inlined = set(np.flatnonzero(passes.inlined(function)).tolist())
    names = [VARIABLES.get(argument, argument) for argument, _ in function.inputs]
    letters = {
        x: f"{letter} + {at} * LANES" if at else letter
        for x, (letter, at) in zip(names, function.places, strict=True)
    }
    storage = "BLOCK" if slots else "static"
    at, w = "{at}", "{w}"  # of the first lane: index in the arguments, and values for later blocks
    lines, calls = [], []
    for k, block in enumerate(blocks, start=1):
        written = Lines(function, block, inlined, precision)
        parameters = {
            f"const {precision.c_type} *restrict {x}": f"{letters[x]} + {at}"
            for x in letters
            if x in written.arguments
        }
        parameters |= {f"{precision.c_type} *restrict out": f"out + {at}"} if block.outputs else {}
        parameters |= {"real *restrict w": w} if slots else {}
        lines += [f"{storage} void {name}_{k}({', '.join(parameters)})", "{"]
        lines += [f"    {line}" if line else "" for line in written.lines]
        lines += ["}", ""]
        calls.append(f"{name}_{k}({', '.join(parameters.values())});")
    lines += [f"void FN({name})({signature(precision)})", "{"]
    lines += [f"    real w[{slots}];"] * bool(slots)
    lines += [f"    (void){x};" for x in "qvu"]
    lines += ["    PASSES {", *(f"        {call.format(at='l', w='w')}" for call in calls), "    }", "}", ""]
    return "\n".join([*lines, *(_groups(name, slots, calls, precision) if slots else [])])


def _groups(name: str, slots: int, calls: list[str], precision: Precision) -> list[str]:
    """Write the function that evaluates each block for several groups of lanes before the next block.

    Blocks of large robots do not fit into the cache of instructions together, but one after the other.
    """
    at, w = "g + l", f"(real *)(live + g) + l / WIDTH * {slots}"
    return [
        "#if LANES > 1",
        "/* Several groups: the arrays of each, LIVE * LANES numbers of live, are `step` after the last. */",
        f"const int LIVE({name}) = {slots};",
        f"void GROUPS({name})({signature(precision)}, {precision.c_type} *live,",
        "    int groups, ptrdiff_t step)",
        "{",
        *(f"    (void){x};" for x in "qvu"),
        *(f"    EACH(groups, step) PASSES {call.format(at=at, w=w)}" for call in calls),
        "}",
        "#endif",
        "",
    ]


class Lines:
    """Writes the C statements of a block; values used once are inlined.

    Parameters
    ----------
    function : Function
    block : Block
    inlined : set of int
        Statements that may be inlined, see `passes.inlined`.
    precision : Precision
    """

    def __init__(self, function, block: Block, inlined: set[int], precision: Precision = DOUBLE):
        self.op, self.a, self.b = (column.tolist() for column in (function.op, function.a, function.b))
        self.value, self.number = function.value.tolist(), precision.text
        self.names = [VARIABLES.get(name, name) for name, _ in function.inputs]
        self.block = block
        self.texts: dict[int, tuple[str, int]] = {row: (f"w[{k}]", ATOM) for row, k in block.taken.items()}
        self.loaded: set[tuple[int, int]] = set()  # argument number and entry
        self.lines: list[str] = []
        for step in block.steps:
            if isinstance(step, Trig):
                self.sincos(step)
            else:
                self.texts[step] = self.expression(step)
                if step not in inlined or step in block.kept:
                    self.define(step)
        outputs = [self.output(function, entry) for entry in block.outputs]
        loads = [
            f"const real {self.names[k]}{e} = load({self.names[k]}, {e});" for k, e in sorted(self.loaded)
        ]
        self.lines = [*loads, *[""] * bool(loads), *self.lines, *[""] * bool(outputs), *outputs]

    @property
    def arguments(self) -> set[str]:
        """Names of the arguments that the block reads."""
        return {self.names[k] for k, _ in self.loaded}

    def expression(self, row: int) -> tuple[str, int]:
        """Return text and precedence of a statement."""
        op, a, b = self.op[row], self.a[row], self.b[row]
        if op == RECIP:
            divisor = self.operand(a, SUM if b else ATOM, self.op[a] == CONST)
            if b:
                return f"reciprocal({divisor}, {'0.0, INFINITY' if b > 0 else '-INFINITY, 0.0'})", ATOM
            return f"{self.number(1.0)} / {divisor}", PRODUCT
        if op == SQRT:
            return f"root({self.operand(a, SUM, self.op[a] == CONST)})", ATOM
        if op == ATAN2:
            return f"arctangent({', '.join(self.operand(x, SUM, self.op[x] == CONST) for x in (a, b))})", ATOM
        tight = PRODUCT if op == MUL else SUM
        left = self.operand(a, tight, self.op[a] == self.op[b] == CONST)
        right = self.operand(b, tight + 1)
        if len(left) + len(right) > COLUMNS:
            longer = a if len(left) > len(right) else b
            if self.texts.get(longer, ("", ATOM))[1] < ATOM:
                self.define(longer)
                return self.expression(row)
        return f"{left} {({ADD: '+', SUB: '-', MUL: '*'})[op]} {right}", tight

    def operand(self, row: int, tight: int, vector: bool = False) -> str:
        """Return the text of an operand, in parentheses if its precedence is too low."""
        if self.op[row] == CONST:
            number = self.number(self.value[row])
            return f"constant({number})" if vector else number
        if self.op[row] == INPUT:
            self.loaded.add((self.a[row], self.b[row]))
            return f"{self.names[self.a[row]]}{self.b[row]}"
        text, held = self.texts[row]
        return text if held >= tight else f"({text})"

    def define(self, row: int) -> None:
        """Write a C variable for the value of a statement."""
        self.lines.append(f"const real t{row} = {self.texts[row][0]};")
        self.texts[row] = f"t{row}", ATOM
        if row in self.block.kept:
            self.lines.append(f"w[{self.block.kept[row]}] = t{row};")

    def sincos(self, step: Trig) -> None:
        """Write one call for the sines and cosines of all angles."""
        n, first = len(step.angles), step.angles[0]
        angles = ", ".join(self.operand(row, SUM, True) for row in step.angles)
        angle, sine, cosine = (f"{name}{first}" for name in ("angle", "sine", "cosine"))
        self.lines += [
            f"real {angle}[PADDED({n})] = {{",
            *(f"    {line}" for line in textwrap.wrap(angles, COLUMNS)),
            "};",
            f"real {sine}[PADDED({n})], {cosine}[PADDED({n})];",
            f"sincos_of({angle}, {sine}, {cosine});",
        ]
        for row in step.rows:
            of = cosine if self.op[row] == COS else sine
            self.texts[row] = f"{of}[{step.angles.index(self.a[row])}]", ATOM
            self.define(row)

    def output(self, function, entry: int) -> str:
        """Return the C statement that stores an entry of the result."""
        row, sign = int(function.output[entry]), "-" if function.sign[entry] < 0 else ""
        return f"store(out, {entry}, {sign}{self.operand(row, ATOM, True)});"
