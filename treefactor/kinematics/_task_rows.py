"""Name the rows of tasks in messages."""

from __future__ import annotations

from ..exceptions import NotPositiveDefiniteError

COMPONENTS = ("linear x", "linear y", "linear z", "angular x", "angular y", "angular z")


def row_name(frame, row: int) -> str:
    """Return the name of a row in messages, for a frame or a list of frames."""
    one = frame[row // 6] if isinstance(frame, list | tuple) else frame
    return f"{COMPONENTS[row % 6]} of frame {str(getattr(one, 'name', one))!r}"


def singular(row: int, name: str | None = None) -> NotPositiveDefiniteError:
    """Return the error about a row of J that depends on rows before it."""
    where = f"row {row}" if name is None else f"row {row} ({name})"
    return NotPositiveDefiniteError(
        f"the task is singular: {where} of J is zero or depends on the rows before it. Leave the row out, or "
        "give a damping > 0",
        row=row,
        name=name,
    )
