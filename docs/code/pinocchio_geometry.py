"""Time new configurations in turns with Pinocchio."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pinocchio_turns import BATCH, CALL, rows

from treefactor import bench
from treefactor.bench.case import Case


def configurations(case: Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of new configurations."""
    model, q = case.model, case.q
    arrays = {"q": q}
    yield from rows(case, "neutral", "tf.neutral(robot)", "pin.neutral(model)", arrays, (CALL,), out=False)
    names = {"rng": np.random.default_rng(0), "count": len(q)}
    for name, limit in (("low", model.lowerPositionLimit), ("high", model.upperPositionLimit)):
        names[name] = np.clip(limit, -9.0, 9.0)
    what, theirs = "randomConfiguration", "pin.randomConfiguration(model, low, high)"
    ours = "tf.random_configuration(robot, rng, low, high)"
    yield from rows(case, what, ours, theirs, {"q": q}, (CALL,), out=False, **names)
    ours, theirs = f"{ours[:-1]}, count)", f"q; {theirs}"
    yield from rows(case, what, ours, theirs, {"q": q}, (BATCH,), out=False, **names)
    if np.isfinite([model.lowerPositionLimit, model.upperPositionLimit]).all():
        ours, theirs = "tf.random_configuration(robot, rng)", "pin.randomConfiguration(model)"
        yield from rows(case, f"{what} of the model", ours, theirs, {"q": q}, (CALL,), out=False, **names)
