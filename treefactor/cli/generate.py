"""Run `treefactor generate`: write a robot's dynamics as self-contained C."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from .. import report
from .._util.files import replacing
from ..check import robots
from ..exceptions import TreefactorError
from ..model.mechanisms import MECHANISMS
from ..model.model import Model
from .common import DISAGREE, on_floating_base


def run_generate(options: argparse.Namespace) -> int:
    """Write a robot's straight-line dynamics in C, and print what they cost; 1 if --verify finds an error."""
    from ..codegen import folder, generate, stages, verify
    from ..codegen.choices import default_functions

    _require_apart(options)
    given = {"parameters": options.parameters, "zeros": options.zeros}
    model, name, base, closed = _model(options)
    with replacing(options.json) as file:
        functions = options.functions or default_functions(model, options.tips, options.parameters)
        branch = _branch(model, functions, closed, dict(options.branch))
        program = generate(model, functions, options.tips, branch=branch, **given)
        folder.write(model, program, options.output, options.force)
        if options.stages:
            texts = stages(model, functions, options.tips, branch=branch)
            folder.write_texts(texts, options.stages, options.force)
        title = f"{name}, {base} base"
        report.print_operations(f"{title}: {options.output}", program.operations)
        report.print_branch(program.branch)
        verdicts = verify(model, functions, options.tips, **given) if options.verify else []
        if verdicts:
            report.print_verdicts(f"{title}: all variants and methods", verdicts)
        counts = {function: asdict(count) for function, count in program.operations.items()}
        content = {"robot": name, "base": base, "operations": counts}
        report.write_json(file, content | {"verified": [asdict(verdict) for verdict in verdicts]})
    report.print_next(
        f"`make -C {shlex.quote(str(options.output))} check` compiles it and checks its results"
    )
    return DISAGREE if any(verdict.first for verdict in verdicts) else 0


def _require_apart(options: argparse.Namespace) -> None:
    """Raise TreefactorError if one of the folders to write is the other or lies in it."""
    if options.stages and options.parameters:
        raise TreefactorError("--stages writes programs with constant parameters: leave out --parameters")
    if options.stages:
        code, stages = options.output.resolve(), options.stages.resolve()
        if code == stages or code in stages.parents or stages in code.parents:
            raise TreefactorError(
                f"--stages {options.stages}: expected a folder outside of --output {options.output}, "
                "and not around it"
            )


def _branch(model: Model, functions: Sequence[str], closed: np.ndarray | None, given: dict[str, int]):
    """Return the branch of position_closure: the given signs, and those of a closed configuration."""
    from ..codegen import generate

    if closed is None or "position_closure" not in functions:
        return given or None
    signs = generate(model, "position_closure", variants="plain", branch=closed).branch
    return dict(signs) | given


def _model(options: argparse.Namespace) -> tuple[Model, str, str, np.ndarray | None]:
    """Return the model of a robot or mechanism, its name, its base, and of mechanisms a closed q."""
    if options.robot in MECHANISMS and not Path(options.robot).exists():
        if options.base == "floating":
            raise TreefactorError(f"{options.robot} stands on a fixed base")
        mechanism = MECHANISMS[options.robot]()
        return mechanism.model, options.robot, "fixed", mechanism.closed
    robot = robots.find(options.robot, on_floating_base(options))
    return robots.model_of(robot), robot.name, robot.base, None
