"""Define the options of the command line."""

from __future__ import annotations

import argparse
import math
import re
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from .._util.messages import similar
from .._version import __version__
from ..bench import scaling as growth
from ..check.project.configuration import FAIL_ON
from ..exceptions import TreefactorError
from ..identification.columns import KINDS
from ..model.mechanisms import MECHANISMS
from ..papers import tables

# in place of a robot
PROBLEMS, CONTACTS, LOOPS, CONTROL = "mlcp", "contacts", "loops", "control"
ROBOT = "a URDF or MJCF file, or the name of a bundled robot"
BASES = {"choices": ("fixed", "floating"), "help": "default: what the robot is meant for"}
REPORTS = {
    "junit": "the cells as tests in JUnit's XML",
    "sarif": "the causes as SARIF, for code scanning",
    "markdown": "a summary as Markdown",
    "badge": "a badge as SVG",
}
PAGES = (".html", ".htm")


class _Parser(argparse.ArgumentParser):
    """Parser whose errors propose commands and choices like a wrong one."""

    def error(self, message: str) -> NoReturn:
        """Print the error, with a proposal, and end with status 2."""
        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)$", message)
        super().error(message + (similar(wrong[1], re.findall(r"[^\s,']+", wrong[2])) if wrong else ""))


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; the name of the command is in ``command``, or None."""
    top = _Parser(
        prog="treefactor",
        description="Branch-sparse dynamics of kinematic trees.",
        epilog="`treefactor COMMAND --help` explains a command. The exit status is 0, 1 where something "
        "disagrees, or 2 where the command could not run.",
    )
    top.add_argument("--version", action="version", version=f"treefactor {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for add in (_check, _info, _bench, _families, _tables, _generate, _identify, _advise, _where):
        add(commands)
    return top


def _check(commands) -> None:
    command = commands.add_parser(
        "check",
        help="compare dynamics and kinematics between the engines",
        epilog="The exit status is 0 if everything that was compared agrees, is explained or expected; 1 if "
        "something disagrees, a file cannot be read, a link has an inertia that no body has or a joint moves "
        "no mass (impossible), or an expectation is stale, and if an engine that is named refuses a file, "
        "crashes or times out; --fail-on chooses among these; 2 for a wrong option or configuration; 3 if "
        "nothing was compared. "
        "treefactor.toml, or [tool.treefactor] in pyproject.toml, holds the same options.",
    )
    add = command.add_argument
    add(
        "robot",
        nargs="*",
        help="a URDF, SDF or MJCF file, a folder, a pattern such as 'robots/*.urdf', or the name of a "
        "bundled robot: one of `treefactor info --list`, dm_control/NAME, sdf-1.6/NAME or sdf-1.9/NAME "
        "(default: a selection of them)",
    )
    add(
        "--engine",
        nargs="+",
        metavar="E",
        help="engines to compare: names of --list-engines, or Python files that define one (default: all "
        "that are installed and take seconds)",
    )
    add(
        "--quantity",
        nargs="+",
        metavar="Q",
        help="quantities, such as H, bias, qdd, jacobians (default: all)",
    )
    add("--derivatives", action="store_true", help="compare derivatives by pinocchio and mujoco instead")
    add(
        "--contacts",
        action="store_true",
        help="compare instead how the robot, all its joints fixed at zero, rests and slides on the ground",
    )
    add(
        "--traps",
        action="store_true",
        default=None,
        help="compare on the trap files: small robots with one peculiarity each",
    )
    add("--base", **BASES)
    _settings_of_check(add)
    _json(command, "the results")
    _html(command, "check.html")
    for kind, what in REPORTS.items():
        add(f"--{kind}", type=Path, metavar="FILE", help=f"also write {what}")


def _settings_of_check(add) -> None:
    """Add the options about states, files and results of a comparison."""
    add("--samples", type=_positive, metavar="N", help="random states per robot (default: 3)")
    add("--seed", type=_natural, metavar="S", help="seed of the random states (default: 0)")
    add("--timeout", type=_above_zero, metavar="S", help="seconds that an engine has for one robot")
    add("--no-ordinary", action="store_true", help="load rewritten files only, and look for no causes")
    add(
        "--fail-on",
        nargs="*",
        metavar="STATE",
        help=f"what makes the exit status 1, among {', '.join(FAIL_ON)} (default: disagrees, impossible and "
        "stale; for engines that are named also refused and crashed, which includes timed out); impossible "
        "are links with inertias that no body has, joints that move no mass or whose limits are negative or "
        "exchanged, and files that treefactor cannot read",
    )
    add(
        "--config",
        type=Path,
        metavar="FILE",
        help="configuration to read instead of the nearest treefactor.toml or pyproject.toml",
    )
    add(
        "--print-config",
        action="store_true",
        help="print the configuration with the options as TOML, and end",
    )
    add("--list-engines", action="store_true", help="print the engines with versions and formats, and end")


def _info(commands) -> None:
    command = commands.add_parser("info", help="print the tree of a robot, its sparsity and its costs")
    command.add_argument("robot", nargs="?", help=ROBOT)
    command.add_argument("--list", action="store_true", help="print the names of the bundled robots")
    command.add_argument("--base", **BASES)
    command.add_argument("--mimic", action="store_true", help="couple mimic joints to those they follow")
    command.add_argument(
        "--frames", action="store_true", help="list the frames and the columns that move them"
    )
    _json(command, "the figures")
    command.add_argument("--plot", type=Path, metavar="FILE", help="draw the tree and the pattern of H")


def _bench(commands) -> None:
    command = commands.add_parser("bench", help="compare times with those of other libraries")
    command.add_argument(
        "robot",
        nargs="?",
        help=f"{ROBOT}; {PROBLEMS} for solvers of contact problems; {CONTACTS} for time steps of "
        f"bodies with shapes; {LOOPS} for mechanisms with closed "
        f"loops; {CONTROL} for inverse kinematics and iterative LQR",
    )
    command.add_argument(
        "--all",
        action="store_true",
        help="compare all robots of example-robot-data and three models of dm_control with Pinocchio instead",
    )
    command.add_argument("--base", **BASES)
    command.add_argument("--threads", type=_positive, default=2, metavar="N", help="to compare with one")
    command.add_argument(
        "--frameworks", action="store_true", help="compare JAX and PyTorch with NumPy instead, for a robot"
    )
    command.add_argument(
        "--goals", action="store_true", help="also show the goals that treefactor set itself"
    )
    _json(command, "the results")


def _families(commands) -> None:
    command = commands.add_parser("families", help="cost, time and memory of chains, binary trees, lattices")
    command.add_argument(
        "--nodes", type=_nodes, default=growth.NODES, metavar="N", help="of the largest tree, at most"
    )
    _json(command, "the figures")
    command.add_argument("--plot", type=Path, metavar="FILE", help="draw cost and time on logarithmic axes")


def _tables(commands) -> None:
    command = commands.add_parser("tables", help="execute what the papers print, with verdicts")
    command.add_argument(
        "paper", nargs="*", type=_paper, help=f"{', '.join(tables.PAPERS)} (default: all of them)"
    )
    _json(command, "the tables")
    _html(command, "tables.html")


def _where(commands) -> None:
    command = commands.add_parser("where", help="print where a function is declared, compiled and checked")
    command.add_argument("quantity", help="name of a public function, such as rnea")


def _generate(commands) -> None:
    command = commands.add_parser("generate", help="write a robot's dynamics as C that compiles by itself")
    command.add_argument("robot", help=f"{ROBOT}, or one of {', '.join(MECHANISMS)}")
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="new, empty, or generated before for the same robot",
    )
    command.add_argument(
        "--force", action="store_true", help="replace what was generated for another robot, or changed since"
    )
    command.add_argument(
        "--functions",
        nargs="+",
        metavar="F",
        help="default: all that need no choice; only if named: joint_forces, base_force, position_closure, "
        "without --tips jacobian and delassus, those of the kinematics such as center_of_mass, and of frames "
        "such as frame_jacobian:tool; names joined by ' + ' share one computation",
    )
    command.add_argument(
        "--tips", nargs="+", default=(), metavar="NAME", help="joints or frames of jacobian and delassus"
    )
    command.add_argument(
        "--verify", action="store_true", help="compare all intermediates with numeric matrix algorithms"
    )
    command.add_argument(
        "--stages",
        type=Path,
        metavar="FOLDER",
        help="also write the program's text after each stage of the generation into this folder",
    )
    command.add_argument(
        "--branch",
        nargs="+",
        type=_sign,
        default=(),
        metavar="FREEDOM=SIGN",
        help="signs, 1 or -1, of the square roots of position_closure; the others stay as they are printed "
        "without it",
    )
    _parameters(command)
    command.add_argument("--base", **BASES)
    _json(command, "the operation counts")


def _parameters(command: argparse.ArgumentParser) -> None:
    """Add the options of inertial parameters as inputs."""
    command.add_argument(
        "--parameters",
        choices=["base", "standard"],
        help="inertial parameters are the input pi, regrouped (fewer) or all ten of every joint",
    )
    command.add_argument("--zeros", choices=["model"], help="with --parameters: fold those that are 0 now")


def _identify(commands) -> None:
    command = commands.add_parser("identify", help="estimate inertias and friction from measured torques")
    command.add_argument("robot", help=ROBOT)
    command.add_argument(
        "data",
        type=Path,
        help="a text with a header such as `t, q_elbow, v_elbow, tau_elbow` or `t, q0, q1, tau0, tau1`, or "
        "an .npz file with t, q, v and tau; rad, N m; velocities may be missing",
    )
    command.add_argument("--base", **BASES)
    command.add_argument(
        "--columns", nargs="+", choices=KINDS, default=KINDS, help="what to estimate (default: all)"
    )
    _filter(command)
    command.add_argument(
        "--hold-out",
        type=_share,
        default=0.3,
        metavar="SHARE",
        help="share of the blocks that only test the fit",
    )
    command.add_argument("--block", type=_above_zero, default=0.5, metavar="S", help="seconds of a block")
    command.add_argument(
        "--slow-share",
        type=_share,
        default=0.01,
        metavar="SHARE",
        help="leave out rows of joints slower than this share of their largest speed, where the sign of the "
        "velocity is noise",
    )
    command.add_argument(
        "--snap",
        type=_share,
        default=1e-5,
        metavar="RAD",
        help="angles this close to multiples of 90 degrees count as these, and lengths as 0, when base "
        "parameters are found: files have rounded ones (default: 1e-5)",
    )
    command.add_argument(
        "--physical", action="store_true", help="also fit bodies that can exist (physically consistent)"
    )
    command.add_argument(
        "--urdf", type=Path, metavar="FILE", help="also write the robot with the bodies of --physical as URDF"
    )
    _json(command, "the estimate")
    _html(command, "identify.html")


def _filter(command: argparse.ArgumentParser) -> None:
    command.add_argument("--rate", type=_above_zero, metavar="HZ", help="sampling rate of data without times")
    command.add_argument(
        "--cutoff",
        type=_number,
        metavar="HZ",
        help="of the filter, which has no delay; 0: no filter (default: 50, at most a tenth of the rate)",
    )
    command.add_argument(
        "--decimate",
        type=_positive,
        metavar="K",
        help="use every K-th sample (default: four samples for a period of the cutoff)",
    )


def _advise(commands) -> None:
    command = commands.add_parser(
        "advise", help="list what to write instead of a script's calls of Pinocchio, the larger gains first"
    )
    command.add_argument(
        "script", nargs="+", type=Path, help="a Python script or a notebook; it is read, not run"
    )
    _json(command, "the advice")


def _json(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--json", type=Path, metavar="FILE", help=f"also write {what} as JSON")


def _html(command: argparse.ArgumentParser, name: str) -> None:
    command.add_argument(
        "--html",
        type=_page,
        nargs="?",
        const=name,
        metavar="FILE",
        help=f"also write a self-contained page (default: {name} in this folder)",
    )


def _page(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in PAGES and not path.exists():
        raise argparse.ArgumentTypeError(
            f"expected a file name that ends in .html, got {text!r}: without a name put --html at the end"
        )
    try:
        import_module("treefactor.report.html")
    except TreefactorError as error:  # now, not after the comparison
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def _paper(text: str) -> str:
    if text not in tables.PAPERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(tables.PAPERS)}")
    return text


def _sign(text: str) -> tuple[str, int]:
    name, equals, sign = text.rpartition("=")
    if not equals or sign.removeprefix("+") not in ("1", "-1"):
        raise argparse.ArgumentTypeError(f"expected a freedom and its sign, such as elbow=-1, got {text!r}")
    return name, int(sign)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return value


def _above_zero(text: str) -> float:
    value = _number(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be above 0")
    return value


def _share(text: str) -> float:
    value = _number(text)
    if value >= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 up to but not including 1, got {text}")
    return value


def _positive(text: str) -> int:
    value = _natural(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _nodes(text: str) -> int:
    value = _natural(text)
    if value < growth.SMALLEST:
        raise argparse.ArgumentTypeError(f"must be at least {growth.SMALLEST}, the size of the least lattice")
    return value


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)
