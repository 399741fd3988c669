"""Make the tables and the chart of single precision from the stored figures of measure_precision.py."""

from exhibits import STYLE, Html, figure, grid, measured
from matplotlib import rc_context
from matplotlib.figure import Figure

NAME = "precision"  # of the file in docs/measured


def errors() -> Html:
    """Show errors of accelerations beside those of rounded arguments and masses, and backward errors."""
    rows = []
    for name, one in measured(NAME)["errors"].items():
        shares = [*one["kernel"], *one["arguments"][:2], *one["masses"][:2], one["backward"][1]]
        rows.append((name, one["nv"], one["method"], *(f"{x:.0e}" for x in shares), one["not finite"] or ""))
    usual = "median", "99 %"
    rounded = [f"{what}, {share}" for what in ("arguments", "masses") for share in usual]
    titles = ["freedoms", "method", *usual, "largest", *rounded, "backward, 99 %", "not finite"]
    return grid(["", *titles], rows)


def rates() -> Html:
    """Show millions of configurations per second of every way, robot by robot."""
    robots, ways = of_all()
    rows = (
        (way, *(f"{one[way] / 1e6:.2g}" if way in one else "" for one in robots.values())) for way in ways
    )
    return grid(["million per second", *robots], rows)


def of_all() -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return the rates of all ways by robot, those of peers in JAX included, and the ways."""
    figures = measured(NAME)
    robots = {
        name: one | {f"{peer}, float32": of[name] for peer, of in figures["peers"].items() if name in of}
        for name, one in figures["rates"].items()
    }
    return robots, list(dict.fromkeys(way for one in robots.values() for way in one))


def chart() -> Html:
    """Draw the rates as bars."""
    robots, ways = of_all()
    with rc_context(STYLE):
        drawn = Figure(figsize=(8.4, 1.2 + 0.16 * len(ways) * len(robots)), layout="constrained")
        axes = drawn.subplots()
        for k, way in enumerate(ways):
            having = [(row, one[way] / 1e6) for row, one in enumerate(robots.values()) if way in one]
            places = [row + k / (len(ways) + 1) for row, _ in having]
            axes.barh(
                places,
                [rate for _, rate in having],
                1 / (len(ways) + 2),
                label=way,
                color=f"C{k}" if k < 10 else "k",
            )
        axes.set_yticks([row + 0.45 for row in range(len(robots))], list(robots))
        axes.set(xscale="log", xlabel="million forward dynamics per second, one thread")
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.3)
        drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure(drawn, "Forward dynamics per second: the numbers of the table above as bars")
