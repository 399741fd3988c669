"""Make the tables and the chart of single precision from the stored figures of measure_precision.py."""

from exhibits import STYLE, Html, figure, grid, measured
from matplotlib import rc_context
from matplotlib.figure import Figure

NAME = "precision"  # of the file in docs/measured


def errors() -> Html:
    """Show errors of accelerations, and what half a unit in the last place of the arguments does."""
    rows = []
    for name, one in measured(NAME)["errors"].items():
        shares = [f"{x:.0e}" for x in (*one["kernel"], *one["arguments"])]
        rows.append((name, one["nv"], one["method"], *shares, one["not finite"] or ""))
    titles = ["median", "99 %", "largest"]
    arguments = [f"arguments, {title}" for title in titles]
    return grid(["", "freedoms", "method", *titles, *arguments, "not finite"], rows)


def rates() -> Html:
    """Show millions of configurations per second of every way, robot by robot."""
    robots = measured(NAME)["rates"]
    ways = next(iter(robots.values()))
    rows = ((way, *(f"{one[way] / 1e6:.3g}" for one in robots.values())) for way in ways)
    return grid(["million per second", *robots], rows)


def chart() -> Html:
    """Draw the rates as bars."""
    robots = measured(NAME)["rates"]
    ways = list(next(iter(robots.values())))
    with rc_context(STYLE):
        drawn = Figure(figsize=(8.4, 1.2 + 0.16 * len(ways) * len(robots)), layout="constrained")
        axes = drawn.subplots()
        for k, way in enumerate(ways):
            places = [row + k / (len(ways) + 1) for row in range(len(robots))]
            axes.barh(places, [one[way] / 1e6 for one in robots.values()], 1 / (len(ways) + 2), label=way)
        axes.set_yticks([row + 0.45 for row in range(len(robots))], list(robots))
        axes.set(xscale="log", xlabel="million forward dynamics per second, one thread")
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.3)
        drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure(drawn, "Forward dynamics per second: the numbers of the table above as bars")
