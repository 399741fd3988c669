"""Make the tables of the pages on controllers from the stored figures of measure_controllers.py."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from exhibits import Html, grid, measured

from treefactor.report import duration, ratio

NAME = "controllers"  # of the file in docs/measured
SETS = {"baseline": "instructions that every processor has", "avx2": "AVX2", "avx512": "AVX-512"}
FOUND_BY = {  # of an example, its peers with a Python of their own
    "mppi": (),
    "ik_batch": ("Pink",),
    "ddp_batch": ("Crocoddyl",),
    "trajectory_in_jax": ("mjx", "frax"),
    "trajectory_in_torch": ("adam",),
}
LIBRARIES = {  # of an example, the packages of its own Python that it depends on
    "mppi": ("numpy", "mujoco"),
    "ik_batch": ("numpy", "pin"),
    "ddp_batch": ("numpy",),
    "trajectory_in_jax": ("numpy", "jax"),
    "trajectory_in_torch": ("numpy", "torch"),
}


@dataclass(frozen=True)
class Goal:
    """A target of an example: what is measured, the least value, and why it may be missed."""

    what: str
    least: float
    value: Callable[[dict], float | None]
    reason: str
    percent: bool = False

    def cells(self, figures: dict) -> tuple[str, str, str]:
        """Return what, the target, and the measured value with the reason where it is missed."""
        value = self.value(figures)
        if value is None:
            verdict = "not measured"
        elif value < self.least:
            verdict = f"missed: {self.words(value)}; {self.reason}"
        else:
            verdict = f"met: {self.words(value)}"
        return self.what, self.words(self.least), verdict

    def words(self, value: float) -> str:
        """Format a share in percent, or a ratio."""
        return f"{100.0 * value:.4g} %" if self.percent else f"{ratio(value)} times"


def rollouts(robot: str) -> Callable[[dict], float | None]:
    """Return a function that computes how many times faster than mujoco.rollout compiled C is."""

    def value(figures: dict) -> float | None:
        compared = figures["mppi"][robot]["rollout"]
        if compared is None or "program, cc" not in compared["seconds"]:
            return None
        return compared["seconds"]["mujoco.rollout"] / compared["seconds"]["program, cc"]

    return value


def per_target(figures: dict) -> float:
    """Return how many times faster than a loop over Pinocchio a target is solved."""
    return figures["ik_batch"]["beside"]["Pinocchio"] / figures["ik_batch"]["beside"]["treefactor"]


def per_problem(figures: dict) -> float | None:
    """Return how many times faster than SolverDDP the problems are solved."""
    peer = figures["peers"].get("Crocoddyl")
    return peer and peer["seconds"] / peer["ours"]


def per_problem_alone(figures: dict) -> float | None:
    """Return how many times faster than by SolverDDP one problem is solved."""
    peer = figures["peers"].get("Crocoddyl")
    return peer and peer["alone"]["seconds"] / peer["alone"]["ours"]


LANES = "the target was set for AVX-512, which computes 8 configurations at a time"
GOALS = {
    "mppi": (
        Goal("panda, faster than mujoco.rollout", 40.0, rollouts("panda"), LANES),
        Goal("solo12, faster than mujoco.rollout", 15.0, rollouts("solo12"), LANES),
    ),
    "ik_batch": (
        Goal(
            "targets reached",
            0.999,
            lambda figures: figures["ik_batch"]["run"]["solved"]["all"],
            "more rounds of restarts find more",
            percent=True,
        ),
        Goal("faster per target than a loop over Pinocchio", 300.0, per_target, LANES),
    ),
    "ddp_batch": (
        Goal(
            "faster per problem than SolverDDP",
            12.0,
            per_problem,
            LANES,
        ),
        Goal(
            "one problem alone, faster than SolverDDP",
            5.0,
            per_problem_alone,
            "the rollout of a step uses one lane of eight",
        ),
    ),
}


def goals(example: str) -> Html:
    """Show the targets of an example, and whether the stored figures meet them."""
    figures = measured(NAME)
    return grid(["", "target", "measured"], (goal.cells(figures) for goal in GOALS[example]))


def machine(*examples: str) -> str:
    """Return the processor's instruction set and the versions behind the figures of some examples."""
    figures = measured(NAME)
    config, peers = figures["config"], figures["peers"]
    versions = {name: figures["versions"][name] for example in examples for name in LIBRARIES[example]}
    parts = [
        f"{config['machine']} with {SETS[config['used']]}, one thread; treefactor {config['treefactor']}, "
    ]
    parts.append(", ".join(f"{name} {number}" for name, number in versions.items()))
    for peer in (peer for example in examples for peer in FOUND_BY[example] if peer in peers):
        listed = ", ".join(f"{name} {number}" for name, number in peers[peer]["versions"].items())
        parts.append(f"\n{peer}: {listed}")
    return "".join(parts)


def sampling() -> Html:
    """Show the time of a step of a rollout of treefactor and of MuJoCo, robot by robot."""
    robots = measured(NAME)["mppi"]
    seconds = {
        robot: one["rollout"]["seconds"] for robot, one in robots.items() if one["rollout"] is not None
    }
    titles = [title for robot in seconds for title in (robot, "times faster")]
    ways = dict.fromkeys(way for one in seconds.values() for way in one)
    return grid(["time per step", *titles], ([way, *beside(seconds, way)] for way in ways))


def beside(seconds: dict, way: str) -> Iterator[str]:
    """Yield the time of a way and how many times faster than MuJoCo it is, for each robot."""
    for one in seconds.values():
        if way not in one:
            yield from ("–", "–")
        else:
            yield from (duration(one[way]), ratio(one["mujoco.rollout"] / one[way]))


def control() -> Html:
    """Show how far the robots come, and the time of a control step."""
    runs = {robot: one["run"] for robot, one in measured(NAME)["mppi"].items()}
    rows = [
        ("control steps", [str(one["steps"]) for one in runs.values()]),
        ("distance to the goal", [millimetres(one.get("distance")) for one in runs.values()]),
        ("angle to the goal", [f"{one['angle'][0]:.1f}° → {one['angle'][1]:.1f}°" for one in runs.values()]),
    ]
    for precision in dict.fromkeys(name for one in runs.values() for name in one["seconds"]):
        spent = [duration(one["seconds"][precision]) for one in runs.values()]
        rows.append((f"time of a control step, motions in {precision}", spent))
    return grid(["", *runs], ([what, *cells] for what, cells in rows))


def millimetres(distances: list | None) -> str:
    """Format the first and last distance; a dash where the task has none."""
    return f"{1e3 * distances[0]:.0f} → {1e3 * distances[1]:.0f} mm" if distances else "–"


def inverse_kinematics() -> Html:
    """Show the time of a target by treefactor, by a loop over Pinocchio, and by Pink."""
    figures = measured(NAME)
    run, beside = figures["ik_batch"]["run"], figures["ik_batch"]["beside"]
    own, loop = beside["treefactor"], beside["Pinocchio"]
    rows = [
        (f"treefactor, all targets at once, {run['iterations']:.1f} iterations", duration(own), ""),
        (
            f"a loop over Pinocchio and NumPy, {beside['steps']:.1f} steps that clip at the limits",
            duration(loop),
            ratio(loop / own),
        ),
    ]
    pink = figures["peers"].get("Pink")
    if pink:
        rows.append(
            (
                f"Pink, {pink['steps']} quadratic programs with limits, which reach {pink['reached']:.0%} of "
                f"{pink['targets']} targets; another class of problem",
                duration(pink["steps"] * pink["seconds"]),
                ratio(pink["steps"] * pink["seconds"] / own),
            )
        )
    return grid(["", "time per target", "times slower"], rows)


def solved() -> Html:
    """Show the share of targets that are reached by the first attempt and with restarts."""
    run = measured(NAME)["ik_batch"]["run"]
    rows = [
        ("the first attempt, from the middle of the limits", f"{run['solved']['first attempt']:.1%}"),
        ("with restarts", f"{run['solved']['all']:.1%}"),
        ("processor time for all targets", duration(run["seconds"])),
    ]
    return grid(["", f"{run['targets']} targets"], rows)


def dynamic_programming() -> Html:
    """Show the times of differential dynamic programming per problem beside those of Crocoddyl."""
    figures = measured(NAME)
    own, peer = figures["ddp_batch"], figures["peers"].get("Crocoddyl")
    rows = [(f"treefactor, {own['problems']} problems at once", *per(own["seconds"], own["iterations"]), "")]
    if peer:
        times = per(peer["seconds"], peer["iterations"])
        rows.append(("Crocoddyl, one after the other", *times, ratio(peer["seconds"] / peer["ours"])))
    alone = own["alone"]
    rows.append(("treefactor, the first problem alone", *per(alone["seconds"], alone["iterations"]), ""))
    if peer:
        theirs = peer["alone"]
        times = per(theirs["seconds"], theirs["iterations"])
        rows.append(("Crocoddyl, the first problem", *times, ratio(theirs["seconds"] / theirs["ours"])))
    return grid(["", "per problem", "iterations", "per iteration", "times slower"], rows)


def per(seconds: float, iterations: float) -> tuple[str, str, str]:
    """Format the time of a problem, its iterations and the time of one."""
    return duration(seconds), f"{iterations:.1f}", duration(seconds / iterations)


def agreement() -> str:
    """Return a sentence on the costs and iterations of treefactor and Crocoddyl."""
    peer = measured(NAME)["peers"].get("Crocoddyl")
    if not peer:
        return "Crocoddyl was not measured."
    return (
        f"Costs differ from those of Crocoddyl by at most {peer['deviation']:.0e}, relative; "
        f"iterations of one problem by at most {peer['difference']}."
    )


def gradients() -> Html:
    """Show the times of gradients of trajectories by treefactor in JAX and PyTorch beside their peers."""
    figures = measured(NAME)
    rows = []
    for example in ("trajectory_in_jax", "trajectory_in_torch"):
        own = figures[example]
        for name in FOUND_BY[example]:
            if peer := figures["peers"].get(name):
                times = (
                    duration(peer["ours"]),
                    duration(peer["seconds"]),
                    ratio(peer["seconds"] / peer["ours"]),
                )
                compiling = duration(own["compile"]), duration(peer["compile"])
                compiling = compiling if example.endswith("jax") else ("–", "–")
                deviation = f"{peer['deviations'][1]:.0e}"
                rows.append((f"{own['robot']}, {name}", *times, *compiling, deviation))
    titles = ["", "ours", "theirs", "times slower", "we compile in", "they compile in", "gradients differ by"]
    return grid(titles, rows)
