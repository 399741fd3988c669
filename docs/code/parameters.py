"""Make the tables of inertial parameters from the stored figures of measure_parameters.py."""

from exhibits import Html, grid, measured

from treefactor.report import duration, ratio

NAME = "parameters"  # of the file in docs/measured
FORMS = {  # of inertias, in words
    "own": "a set for each element",
    "chosen, sorted": "16 sets, elements of one set side by side",
    "chosen": "16 sets in any order",
}


def inertias() -> Html:
    """Show the time of functions with inertias in multiples of that with those of the model."""
    rows = []
    for name, one in measured(NAME)["robots"].items():
        for row in one["inertias"]:
            shared = row["seconds"]["shared"]
            shares = (f"{row['seconds'][form] / shared:.2f}" for form in FORMS)
            rows.append((name, row["function"], f"{row['count']:,}", duration(shared), *shares))
    return grid(["", "function", "batch", "model's inertias", *FORMS.values()], rows)


def loops() -> Html:
    """Show the time of aba with own inertias beside loops over Pinocchio that set them, and that do not."""
    figures = measured(NAME)
    rows = []
    for name, one in figures["robots"].items():
        own, *theirs = one["loop"].values()
        times = (text for spent in theirs for text in (duration(spent), ratio(spent / own)))
        rows.append((name, duration(own), *times))
    titles = ["sets model.inertias", "times slower", "leaves them", "times slower"]
    return grid(["", f"batch of {figures['sizes']['loop']:,}", *titles], rows)


def regressors() -> Html:
    """Show times of regressors by Pinocchio, in multiples of ours, and ours in multiples of rnea."""
    rows = []
    for name, one in measured(NAME)["robots"].items():
        for where, spent in one["regressors"].items():
            for way in (way for way in spent if way not in ("Pinocchio", "rnea")):
                shares = spent["Pinocchio"] / spent[way], spent[way] / spent["rnea"]
                rows.append((name, where, way, duration(spent[way]), *map(ratio, shares)))
    titles = ["results in the", "", "time per sample", "times faster than Pinocchio", "multiples of rnea"]
    return grid(["", *titles], rows)


def base_parameters() -> Html:
    """Show how many base parameters robots have, rotors included, and the time to find them."""
    rows = (
        (name, str(one["base parameters"]["count"]), duration(one["base parameters"]["seconds"]))
        for name, one in measured(NAME)["robots"].items()
    )
    return grid(["", "base parameters", "time"], rows)


def samples() -> Html:
    """Show the time to take samples of an arm into an Identification, and those of its peers' regressors."""
    figures = measured(NAME)
    sizes, spent = figures["sizes"], figures["identification"]
    rows = [
        (f"{sizes['samples']:,} samples: regressor and triangle", duration(spent["samples"])),
        (f"Pinocchio, {sizes['calls']:,} regressors, no triangle", duration(spent["calls"])),
    ]
    if figures["figaroh"]:
        times = figures["figaroh"]["seconds"]
        rows.append((f"figaroh, {sizes['calls']:,} regressors", duration(sizes["calls"] * times["figaroh"])))
    return grid(["ur5", "time"], rows)


def operations() -> Html:
    """Show operations of programs with inertias as inputs, in multiples of those with inertias folded in."""
    robots = measured(NAME)["robots"]
    rows = []
    for function in next(iter(robots.values()))["operations"]:
        for form in ("base", "base, zeros"):
            counts = [one["operations"][function] for one in robots.values()]
            rows.append((function, form, *(f"{count[form] / count['folded']:.2f}" for count in counts)))
    return grid(["", "inputs", *robots], rows)
