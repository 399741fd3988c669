"""Name the contacts, limits, loops and drives that contradict each other in an infeasible time step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._step_records import Touch, Unilateral

SHARE = 1e-6  # parts of a certificate below this share of the largest are not named
NAMED = 4  # constraints that a message names
# message for a loop open by more than rounding, such as a planar one whose joints are not in one plane
OPEN = (
    ", because no motion changes a part of it here; if it is a loop that is open across the motions of its "
    "joints, give its placements with more digits"
)


def contradiction(stepper, touch: Touch, rows: Unilateral, certificate) -> str:
    """Describe what a certificate of infeasibility contradicts; first a constraint that no motion changes."""
    y, z = (np.abs(part) for part in certificate)
    least = SHARE * max(y.max(initial=0.0), z.max(initial=0.0))
    loops = list(dict.fromkeys(_bilateral(stepper, z > least)))
    others = dict(_unilateral(stepper, touch, rows, y > least))
    fixed = [name + reason for name, reason in others.items() if reason]
    if fixed:
        return fixed[0]
    named = [*loops, *others]
    if len(named) == 1:
        return f"{named[0]} cannot be fulfilled{OPEN if loops else ''}"
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return f"these contradict each other: {', '.join(named[:NAMED])}{more}"


def _bilateral(stepper, used: np.ndarray) -> Iterator[str]:
    """Name loops and drives of rows."""
    model, loops = stepper.model, stepper._loops
    for row in np.flatnonzero(used):
        driven = np.flatnonzero(loops.driven == row)
        if driven.size:
            yield f"drives[{driven[0]}] of {stepper.drives[driven[0]].joint!r}"
        else:
            yield f"loop {model.loops[loops.of[row]].name!r}"


def _unilateral(stepper, touch: Touch, rows: Unilateral, used: np.ndarray) -> Iterator[tuple[str, str]]:
    """Name contacts and joint limits of rows; with the reason, or "", why no motion can fulfill one."""
    model, count = stepper.model, len(rows.of)
    for row in np.flatnonzero(used):
        if row < count:
            yield _contact(stepper, touch, int(rows.of[row]))
            continue
        column, side = stepper._limits[1][row - count], stepper._limits[2][row - count]
        before = [
            joint.name
            for joint, first in zip(model.joints, model.idx_v, strict=True)
            if first <= column and not joint.mimic
        ]
        yield f"the {'lower' if side > 0.0 else 'upper'} limit of joint {before[-1]!r}", ""


def _contact(stepper, touch: Touch, k: int) -> tuple[str, str]:
    """Name near contact k, and say whether no motion changes its gap."""
    number, joints = stepper._contacts.owner[touch.which[k]], stepper.model.joints
    against, own = (
        repr(joints[body].name) if body >= 0 else "the base"
        for body in stepper._contacts.structs["body"][number]
    )
    name = f"contacts[{number}] of {own} with {against}"
    if touch.data[0, touch.start[k] : touch.start[k + 1]].any():
        return name, ""
    return name, (
        f" overlaps by {-touch.gap[k]:.6g} m, and no motion changes that here; if none ever does, leave it "
        "out, as contacts_between(..., model=model) does"
    )
