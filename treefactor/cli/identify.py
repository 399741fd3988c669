"""Run `treefactor identify`: estimate a robot's parameters from measured motions and torques."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from .. import report
from .._util.files import replacing
from .._version import __version__
from ..check import robots
from ..exceptions import InvalidModelError, TreefactorError
from ..identification import base_parameters, fit_measurements, read_measurements, write_urdf
from ..model.model import Model
from .common import DISAGREE, on_floating_base


def run_identify(options: argparse.Namespace) -> int:
    """Print parameters estimated from measured torques; return 1 if parameters or predictions failed."""
    robot = robots.find(options.robot, on_floating_base(options))
    if options.urdf and robot.is_mjcf:
        raise TreefactorError(f"--urdf writes a URDF like the one it reads, and {robot.path} is an MJCF")
    bodies = options.physical or options.urdf is not None
    if bodies and "inertia" not in options.columns:
        raise TreefactorError("bodies that can exist need the columns of inertias: add inertia to --columns")
    model = robots.model_of(robot)
    name = Path(robot.name).stem if Path(robot.name).is_file() else robot.name
    title = f"{name}, {robot.base} base"
    with (
        replacing(options.json) as json_file,
        replacing(options.html) as html_file,
        replacing(options.urdf) as urdf_file,
    ):
        measurements = read_measurements(options.data, model, options.cutoff, options.decimate, options.rate)
        base = base_parameters(model, "armature" in options.columns, snap=options.snap)
        fit = fit_measurements(
            *(model, measurements, options.columns, options.hold_out, options.block, options.slow_share),
            *(bodies, base),
        )
        meta = {
            "treefactor": __version__,
            "robot": Path(robot.name).name,
            "data": options.data.name,
            "samples": len(measurements.t),
            "rate": f"{measurements.rate:.4g}",
            "cutoff": f"{measurements.cutoff:.4g}" if measurements.cutoff else "",
        }
        report.write_json(json_file, {**meta, "base": robot.base, **report.identification_figures(fit)})
        if html_file is not None:
            from ..report.identification_page import write_identification

            write_identification(html_file, title, fit, meta)
        written = _write_urdf(robot.path, urdf_file, fit.model)
    report.print_identification(title, fit)
    for line in written:
        print(line)
    report.print_next(_after(options))
    return DISAGREE if fit.failures else 0


def _write_urdf(path: Path, draft: Path | None, model: Model | None) -> list[str]:
    """Write the robot with new inertias if requested; return lines about it."""
    if draft is None or model is None:
        return []
    try:
        links = write_urdf(path, draft, model)
        rule = "merged links on fixed joints keep their inertias"
    except InvalidModelError as error:
        links = write_urdf(path, draft, model, merged="clear")
        rule = f"merged links on fixed joints lose theirs, because {error}".partition("; merged=")[0]
    return [f"URDF: {len(links)} links have another inertia; {rule}"]


def _after(options: argparse.Namespace) -> str:
    """Suggest the command that a user is likely to need after an identification."""
    if options.urdf:
        return f"`treefactor info {shlex.quote(str(options.urdf))}` shows the robot that was written"
    command = f"treefactor identify {shlex.quote(options.robot)} {shlex.quote(str(options.data))}"
    if not options.html:
        return f"`{command} --html` draws torques and residuals"
    return f"`{command} --urdf FILE` writes the robot with its new inertias"
