"""Run `treefactor info`: print the tree of a robot, its sparsity, costs, joints and frames."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import asdict

from .. import report
from .._util.files import replacing
from ..check import robots
from ..check.files import faults_of
from ..exceptions import TreefactorError
from .common import on_floating_base

SDFS = "`treefactor check` also takes sdf-1.6/NAME and sdf-1.9/NAME: the URDF of that name, written as an SDF"


def run_info(options: argparse.Namespace) -> int:
    """Print the tree of one robot, or the names of all bundled ones."""
    if options.list:
        print(*robots.bundled(), *robots.suite(), sep="\n")
        print(SDFS, file=sys.stderr)
        return 0
    if options.robot is None:
        raise TreefactorError(
            "info needs the file or name of a robot; `treefactor info --list` prints the names"
        )
    robot = robots.find(options.robot, on_floating_base(options))
    model = robots.model_of(robot, options.mimic)
    tree = model.tree
    report.print_tree(f"{robot.name}, {robot.base} base", tree)
    report.print_joints(model)
    print(f"{len(model.frames)} frames" + ("" if options.frames else "; --frames lists them"))
    impossible = faults_of(robot)
    for fault in impossible:
        report.console().print(f"impossible: {fault}", style="red", markup=False, soft_wrap=True)
    if options.frames:
        report.print_frames(model)
    with replacing(options.json) as file:
        content = {
            "robot": robot.name,
            "base": robot.base,
            "parent": tree.parent.tolist(),
            "names": tree.names,
            "joints": report.joint_figures(model),
            "nframes": len(model.frames),
            "impossible": [asdict(fault) for fault in impossible],
        }
        if options.frames:
            content["frames"] = report.frame_figures(model)
        report.write_json(file, {**content, **report.tree_figures(tree)})
    with replacing(options.plot) as file:
        if file is not None:
            from ..report.plots import draw_tree

            draw_tree(tree, f"{robot.name}, {robot.base} base", file)
    name = shlex.quote(options.robot)
    report.print_next(
        f"`treefactor bench {name}` measures it, `treefactor check {name}` compares the engines"
    )
    return 0
