"""Print the results of `treefactor identify`."""

from __future__ import annotations

import math
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..identification.measured_fit import FittedParameter, JointResidual, MeasuredFit
from .console import console

IDENTIFICATION_CAPTION = (
    "SI units, parameters about the origins of the joints, in their axes. ±: standard deviation, if errors "
    "of successive torques are independent; larger if they are not. File: the robot description. Residuals: "
    "norm of measured minus predicted torques over the norm of the measured ones; file: with its inertias, "
    "and rotor inertias and friction fitted to all samples. Bodies: those that can exist, held-out torques."
)


def print_identification(title: str, fit: MeasuredFit) -> None:
    """Print parameters, residuals, notes and what failed."""
    out = console()
    out.print(_parameter_table(title, fit.parameters))
    out.print(_residual_table(fit.joints))
    estimate = fit.estimate
    out.print(
        f"{estimate.rank} of {len(estimate.names)} parameters determined, condition of the scaled columns "
        f"{estimate.cond:.3g}, {int(fit.used[~fit.held].sum())} torques fitted, "
        f"{int(fit.used[fit.held].sum())} held out"
    )
    for note in fit.notes:
        out.print(Text(f"Note: {note}"), soft_wrap=True)
    for failure in fit.failures:
        out.print(Text("Failed: ", style="bold red").append(failure, style="default"), soft_wrap=True)
    out.print(Text(IDENTIFICATION_CAPTION, style="dim"))


def identification_figures(fit: MeasuredFit) -> dict:
    """Return parameters, residuals, notes and failures as plain values."""
    return {
        "parameters": [asdict(entry) for entry in fit.parameters],
        "joints": [asdict(entry) for entry in fit.joints],
        "rank": int(fit.estimate.rank),
        "cond": float(fit.estimate.cond),
        "not_excited": list(fit.estimate.not_excited),
        "bodies": None if fit.model is None else _bodies(fit.model),
        "notes": list(fit.notes),
        "failures": list(fit.failures),
    }


def _bodies(model) -> dict[str, list[float]]:
    """Return the ten parameters of every body by the name of its joint."""
    return {joint.name: pi.tolist() for joint, pi in zip(model.joints, model.parameters, strict=True)}


def _parameter_table(title: str, parameters: tuple[FittedParameter, ...]) -> Table:
    """Return the table of the parameters."""
    table = Table(title=Text(title), title_justify="left", header_style="bold", box=SIMPLE_HEAD)
    table.add_column("parameter", overflow="fold")
    bodies = any(not math.isnan(parameter.bodies) for parameter in parameters)
    for name in ("value", "±", *(["bodies"] if bodies else []), "file"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    for parameter in parameters:
        value = (
            Text("not excited", style="yellow")
            if math.isnan(parameter.value)
            else Text(number(parameter.value))
        )
        of_bodies = [number(parameter.bodies)] if bodies else []
        table.add_row(
            Text(parameter.name),
            value,
            number(parameter.standard_deviation, 2),
            *of_bodies,
            number(parameter.before),
            parameter.unit,
        )
    return table


def _residual_table(joints: tuple[JointResidual, ...]) -> Table:
    """Return the table of residuals by joint."""
    table = Table("joint", header_style="bold", box=SIMPLE_HEAD)
    bodies = not math.isnan(joints[-1].bodies)
    for name in ("torque", "file", "fit", "held out", *(["bodies"] if bodies else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for joint in joints:
        shares = (joint.before, joint.fit, joint.held_out, *([joint.bodies] if bodies else []))
        table.add_row(Text(joint.name), number(joint.torque, 3), *map(share, shares))
    return table


def number(value: float, digits: int = 4) -> str:
    """Format a number with some digits, or a dash for NaN."""
    return "–" if math.isnan(value) else f"{value:.{digits}g}"


def share(value: float) -> str:
    """Format a share as a percentage, or a dash for NaN."""
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"
