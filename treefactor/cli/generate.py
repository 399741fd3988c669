"""Run `treefactor generate`: write a robot's dynamics as self-contained C."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import asdict
from pathlib import Path

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
    from ..codegen.program.program import available

    model, name, base = _model(options)
    with replacing(options.json) as file:
        functions = options.functions or available(model, options.tips)
        branch = dict(options.branch) or None
        program = generate(model, functions, options.tips, branch=branch)
        folder.write(model, program, options.output, options.force)
        if options.stages:
            texts = stages(model, functions, options.tips, branch=branch)
            folder.write_texts(texts, options.stages, options.force)
        title = f"{name}, {base} base"
        report.print_operations(f"{title}: {options.output}", program.operations)
        verdicts = verify(model, functions, options.tips) if options.verify else []
        if verdicts:
            report.print_verdicts(f"{title}: all variants and methods", verdicts)
        counts = {function: asdict(count) for function, count in program.operations.items()}
        content = {"robot": name, "base": base, "operations": counts}
        report.write_json(file, content | {"verified": [asdict(one) for one in verdicts]})
    report.print_next(
        f"`make -C {shlex.quote(str(options.output))} check` compiles it and checks its results"
    )
    return DISAGREE if any(one.first for one in verdicts) else 0


def _model(options: argparse.Namespace) -> tuple[Model, str, str]:
    """Return the model of a robot or mechanism, its name and its base."""
    if options.robot in MECHANISMS and not Path(options.robot).exists():
        if options.base == "floating":
            raise TreefactorError(f"{options.robot} stands on a fixed base")
        return MECHANISMS[options.robot]().model, options.robot, "fixed"
    robot = robots.find(options.robot, on_floating_base(options))
    return robots.model_of(robot), robot.name, robot.base
