"""Say which freedom moves no mass, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Model

FREEDOMS = 6  # of a free-flyer


def massless(model: Model | None, row: int) -> tuple[str, str | None]:
    """Return the message for a freedom whose pivot is not positive, and its name."""
    name = model.tree.name(row) if model else None
    message = f"freedom {row} ({name}) moves no mass: its pivot is not positive"
    return message + (_second_base(model, row) if model else ""), name


def _second_base(model: Model, row: int) -> str:
    """Return advice where the freedom is of a free-flyer without mass that carries only free-flyers."""
    for k, joint in enumerate(model.joints):
        if joint.kind == "freeflyer" and 0 <= row - model.idx_v[k] < FREEDOMS and not joint.inertia.mass:
            below = [other for other in model.joints if other.parent == k]
            if below and all(other.kind == "freeflyer" for other in below):
                return (
                    f". The robot floats twice: {joint.name} carries no mass of its own and "
                    f"{below[0].name} is a free-flyer, too; load the file without a floating base"
                )
    return ""
