"""Make the charts and tables of the page on performance; the whole tables are folded below the charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from charts import dots, folded
from exhibits import Html, grid, measured, spread

from treefactor.bench.comparisons.all_robots import TITLES
from treefactor.report import duration, ratio

ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced")
SETS = {"avx2": "AVX2", "avx512": "AVX-512"}
PEERS = ("Pinocchio", "NumPy")  # of the charts
PARTS = {  # of a distribution
    **{"least": "least", "low": "lower quartile", "median": "median"},
    **{"high": "upper quartile", "most": "most"},
}
READING = ("buildModelFromUrdf", "Model.from_urdf", "pinocchio_.model", "first rnea")
SUBJECTS = {  # of a page, the targets in the stored results
    "one matrix": ("S1", "S2"),
    "batches of matrices": ("S4", "S5"),
    "dynamics": ("S6",),
    "compiled programs": ("S7",),
    "derivatives": ("Derivatives",),
    "closed loops": ("closed loops",),
    "contact problems": ("A2", "A3", "A4"),
    "warm starts": ("A5",),
    "dependent rows": ("A7",),
    "contradictory rows": ("A8",),
}
FAMILIES = {  # of treefactor.mlcp.families, in words
    "robotred": "robot with more rows than freedoms",
    "dup": "spheres with every row twice",
    "column": "column of spheres",
    "infeas": "spheres with contradictory rows",
    "infeasR": "robot with contradictory rows",
}
SHOWN = {  # in the chart of a subject: names in the stored results, with those of the chart
    "one matrix": {"factor": "factor", "solve": "solve"},
    "batches of matrices": {
        "solve 512 float64": "solve, 512, than NumPy",
        "solve 4096 float64": "solve, 4096, than NumPy",
        "factor in cache float64, lanes": "factor, lanes",
        "factor in cache float64, packed": "factor, packed",
        "factor in cache float32, lanes": "factor, lanes, float32",
    },
    "dynamics": {
        **{name: f"{name}, one call" for name in ("crba", "rnea", "aba", "forward dynamics")},
        **{f"{name} 1024": f"{name}, 1024" for name in ("crba", "rnea", "aba", "forward dynamics")},
        "rnea 1024, interpreter": "rnea, 1024, program",
        "forward dynamics 1024, interpreter": "forward dynamics, 1024, program",
    },
    "compiled programs": {
        "rnea, cc": "rnea, one call",
        "forward dynamics, cc": "forward dynamics, one call",
        "rnea 1024, cc": "rnea, 1024",
        "forward dynamics 1024, cc": "forward dynamics, 1024",
    },
    "derivatives": {
        "rnea derivatives": "of rnea, one call",
        "forward dynamics derivatives": "of forward dynamics, one call",
        "rnea vjp": "rnea_vjp, one call",
        "forward dynamics vjp": "forward_dynamics_vjp, one call",
        "rnea derivatives 256, lanes": "of rnea, 256, lanes",
        "forward dynamics derivatives 256": "of forward dynamics, 256",
        "rnea vjp 256": "rnea_vjp, 256",
        "forward dynamics vjp 256": "forward_dynamics_vjp, 256",
    },
}


def subject(name: str) -> Html:
    """Show how many times faster than its peers a subject is: a chart of four robots, and the table."""
    lines, before = (
        {title: dict(ratios(what, results)) for what, title in SHOWN[name].items()}
        for results in (now(), with_avx2())
    )
    chart = dots(lines, "times faster", f"{name}, how many times faster", before)
    return Html(chart + folded("All figures", table(name)))


def now() -> dict[str, list[dict]]:
    """Return the results of every robot."""
    return {robot: measured(robot)["results"] for robot in ROBOTS}


def with_avx2() -> dict[str, list[dict]]:
    """Return the results of every robot with AVX2, of an earlier commit on another machine."""
    return measured("avx2")["robots"]


def ratios(what: str, results: Mapping[str, Sequence[Mapping]]) -> Iterator[tuple[str, float]]:
    """Yield the robots with their ratios to one of the peers of the charts."""
    for robot, rows in results.items():
        yield from ((robot, one["ratio"]) for one in rows if one["what"] == what and one["peer"] in PEERS)


def table(name: str) -> Html:
    """Show all figures of a subject: ratio and quartiles, and the ratio with AVX2."""
    by_robot = {robot: {key(one): one for one in rows} for robot, rows in now().items()}
    earlier = {robot: {key(one): one for one in rows} for robot, rows in with_avx2().items()}
    keys = dict.fromkeys(k for rows in by_robot.values() for k in rows if k[0] in SUBJECTS[name])

    def cells(robot: str, k: tuple) -> tuple[str, str]:
        one, before = by_robot[robot].get(k), earlier[robot].get(k)
        return spread(one) if one else "", ratio(before["ratio"]) if before else ""

    sets = {robot: SETS[measured(robot)["config"]["used"]] for robot in ROBOTS}
    titles = (title for robot in ROBOTS for title in (f"{robot}, {sets[robot]}", "AVX2"))
    rows = ([k[1], k[2], *(cell for robot in ROBOTS for cell in cells(robot, k))] for k in keys)
    return grid(["", "compared with", *titles], rows)


def over_robots() -> Html:
    """Show least, quartiles and most over all robots, and the tables."""
    quantities = measured("all_robots")["distribution"]
    lines = {
        TITLES[one["what"]][0]: {title: one[part] for part, title in PARTS.items()} for one in quantities
    }
    chart = dots(lines, "times faster than Pinocchio", "How many times faster over all robots")
    return Html(chart + folded("As a table", distribution()) + folded("Every robot", all_robots()))


def distribution() -> Html:
    """Show the distribution over all robots of how many times faster than Pinocchio we are."""
    quantities = measured("all_robots")["distribution"]
    return grid(
        ["", "Pinocchio's", *PARTS.values(), "least on"],
        [
            [
                *(one["what"], TITLES[one["what"]][1]),
                *(ratio(one[name]) for name in PARTS),
                one["worst"],
            ]
            for one in quantities
        ],
    )


def all_robots() -> Html:
    """Show how many times faster than Pinocchio we are on every robot by number of freedoms."""
    robots = sorted(measured("all_robots")["robots"], key=lambda one: one["nv"])
    titles = (short for short, _ in TITLES.values())
    rows = (
        [
            *(one["robot"], one["base"], one["nv"], f"{one['density']:.2f}"),
            *(ratio(row["ratio"]) for row in one["results"]),
        ]
        for one in robots
    )
    return grid(["robot", "base", "nv", "density", *titles], rows)


def reading() -> Html:
    """Show how long reading and converting a robot takes, and a first call."""
    robots = measured("fixed_costs")["robots"]
    lines = {name: {way: 1e6 * one["seconds"][way] for way in READING} for name, one in robots.items()}
    return dots(lines, "µs", "Microseconds of reading and converting robots", one=False)


def fixed_costs() -> Html:
    """Show all times that a script pays once, folded."""
    columns = {
        **{"Model.from_urdf": "URDF", "buildModelFromUrdf": "Pinocchio's", "pinocchio_.model": "model"},
        **{"mujoco_.model": "of MuJoCo", "pybullet_.model": "of PyBullet", "first rnea": "first rnea"},
        **{"first frame_jacobian": "first frame_jacobian", "with_parameters": "with_parameters"},
        "pickle": "unpickling",
    }
    rows = (
        [name, one["joints"], one["frames"], *(duration(one["seconds"][column]) for column in columns)]
        for name, one in measured("fixed_costs")["robots"].items()
    )
    return folded("All figures", grid(["", "joints", "frames", *columns.values()], rows))


def break_even() -> Html:
    """Show after how many calls of rnea the conversion of a model of Pinocchio has paid, folded."""
    fixed, rows = measured("fixed_costs"), []
    imported = fixed["imports"]["import treefactor, a URDF and first calls"]
    for name, one in fixed["robots"].items():
        time = one["seconds"]
        once = time["pinocchio_.model"] + time["first rnea"]
        ways = (once, "rnea"), (once, "bound rnea"), (once + imported, "bound rnea")
        gains = ((spent, time["pin.rnea"] - time[way]) for spent, way in ways)
        earned = (f"{spent / gain:,.0f}" if gain > 0 else "never" for spent, gain in gains)
        rows.append([name, *(duration(time[way]) for way in ("pin.rnea", "rnea", "bound rnea")), *earned])
    titles = ["", "pinocchio.rnea", "rnea", "bound", "pays after", "bound, after", "with the import"]
    return folded("After how many calls", grid(titles, rows))


def largest_trees(families: Mapping[str, Sequence[Mapping]]) -> Html:
    """Show operations, times and memory of the largest tree of every family, folded."""
    rows = (
        [
            *(name, f"{last['n']:,}", f"{last['operations']:,}"),
            f"{1e9 * last['seconds'] / last['operations']:.3f}",
            f"{last['memory'] / last['nnz']:.1f}",
            f"{last['dense'] / last['operations']:,.1f}",
        ]
        for name, last in ((name, trees[-1]) for name, trees in families.items())
    )
    titles = ["largest", "n", "operations", "ns per operation", "bytes per entry", "times fewer than dense"]
    return folded("The largest", grid(titles, rows))


def compared(name: str, subject: str) -> Html:
    """Show how many times faster than its peers each problem of a subject is, and the table."""
    lines: dict[str, dict[str, float]] = {}
    for one in rows_of(name, subject):
        lines.setdefault(title(one), {})[one["peer"]] = one["ratio"]
    chart = dots(lines, "times faster", f"{subject}, how many times faster")
    return Html(chart + folded("All figures", comparisons(name, subject)))


def history() -> Html:
    """Show medians over some robots of how many times faster than Pinocchio we are, commit by commit."""
    records = measured("history")["records"]
    whats = dict.fromkeys(what for one in records for of_robot in one["ratios"].values() for what in of_robot)
    rows = []
    for what in whats:
        by_commit = [[ratios[what] for ratios in one["ratios"].values() if what in ratios] for one in records]
        rows.append([what, *(ratio(float(np.median(one))) if one else "–" for one in by_commit)])
    operations = [sum(sum(counts.values()) for counts in one["operations"].values()) for one in records]
    rows.append(["operations of the programs", *(f"{count:,}" for count in operations)])
    titles = (f"{one['commit']}, {one['date'][:10]}, {one['config']['used']}" for one in records)
    return folded("Commit by commit", grid(["", *titles], rows))


def comparisons(name: str, subject: str) -> Html:
    """Show what was timed with what: both times, their ratio, and the status that the peer reported."""
    results = rows_of(name, subject)
    times = [(duration(row["ours"]), duration(row["theirs"]), spread(row)) for row in results]
    return grid(
        ["", "compared with", "ours", "theirs", "times faster", "their result"],
        [
            [
                title(row),
                row["peer"],
                *time,
                row["note"].replace(", residual", ","),
            ]
            for row, time in zip(results, times, strict=True)
        ],
    )


def rows_of(name: str, subject: str) -> list[dict]:
    """Return the stored results of a subject, but for our own times without making the problem."""
    results = (row for row in measured(name)["results"] if row["target"] in SUBJECTS[subject])
    return [row for row in results if row["peer"] != "solved"]


def title(row: Mapping) -> str:
    """Name a problem and what was done, but for the usual cold start."""
    return f"{problem(row['model'])}, {row['what']}".removesuffix(", cold")


def problem(model: str) -> str:
    """Name the family of contact problems in words, with the number of rows."""
    family, _, rows = model.partition(" ")
    return f"{FAMILIES.get(family, family)} {rows}".strip()


def key(row: Mapping) -> tuple[str, str, str]:
    """Return the subject, what was timed, and the peer."""
    return row["target"], row["what"], row["peer"]
