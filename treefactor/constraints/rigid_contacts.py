"""Define rigid contacts: a frame of one body that is held to a frame of another body or of the base."""

from __future__ import annotations

from dataclasses import dataclass

from .._util.validation import as_tuple, check_choice
from ..exceptions import InvalidModelError
from ..model.frames import Frame, frame_of
from ..model.model import Model

ROWS = {"3D": 3, "6D": 6}  # number of rows by kind of contact
REFERENCES = ("LOCAL", "LOCAL_WORLD_ALIGNED")


@dataclass(frozen=True, eq=False)
class RigidContact:
    """Bilateral contact: the origin of a frame, or the whole frame, is held to another frame.

    Parameters
    ----------
    frame : str, Frame, or -1 for the base
        A frame, joint or body by name, or a `treefactor.Frame`.
    kind : {"3D", "6D"}
        "3D" holds the origin and transmits forces; "6D" holds the rotation, too, and transmits moments.
    reference : {"LOCAL", "LOCAL_WORLD_ALIGNED"}
        Axes of the rows and forces: those of the frame, or of the base.
    against : str, Frame, or -1
        Frame to which the first one is held, by default that of the base: what does not move. Its place only
        matters with stabilization, and if its body moves.

    Raises
    ------
    ValueError
        If there is no such kind or reference.

    Notes
    -----
    Immutable.

    Pinocchio's ``RigidConstraintModel`` with the frame on its first joint. With u, c the velocity and
    classical acceleration of the origins, omega and alpha those of the rotations, and d = p1 - p2, the rows
    of a "3D" contact are

        d,  u1 - u2,  c1 - c2

    and those of a "6D" one, of which the last is the derivative of the second seen from the first frame,

        d, log(R2^T R1);  s = u1 - u2 - omega2 x d, omega1 - omega2;
        c1 - c2 - alpha2 x d - omega2 x (u1 - u2) - omega1 x s, alpha1 - alpha2 + omega1 x omega2.

    The forces act on the body of the first frame at its origin, and their opposites on the other body: of a
    "3D" contact at the origin of the second frame, of a "6D" one at that of the first.

    Examples
    --------
    >>> import treefactor as tf
    >>> foot = tf.constraints.RigidContact("foot", "6D", against=tf.Frame("ground", -1, p=[0.1, 0.0, 0.0]))
    >>> foot.rows
    6
    """

    frame: str | Frame
    kind: str = "3D"
    reference: str = "LOCAL"
    against: str | int | Frame = -1

    def __post_init__(self):
        check_choice("kind", self.kind, tuple(ROWS))
        reference = getattr(self.reference, "name", self.reference)  # Pinocchio's enum
        check_choice("reference", reference, REFERENCES)
        object.__setattr__(self, "reference", reference)

    @property
    def rows(self) -> int:
        """Return the number of constraint rows."""
        return ROWS[self.kind]


def as_contacts(contacts) -> tuple[RigidContact, ...]:
    """Return rigid contacts as a tuple; raise DtypeError or InvalidModelError for anything else."""
    contacts = as_tuple(contacts, "contacts")
    for k, contact in enumerate(contacts):
        if not isinstance(contact, RigidContact):
            raise InvalidModelError(f"contacts[{k}] is not a RigidContact, but {contact!r}")
    return contacts


def frames_of_contacts(model: Model, contacts: tuple[RigidContact, ...]) -> list[tuple[Frame, Frame]]:
    """Return both frames of every contact; raise InvalidModelError if they are on one body, or unknown."""
    frames = []
    for k, contact in enumerate(contacts):
        first, second = (
            frame_of(model, frame, argument=f"contacts[{k}].{name}")
            for name, frame in (("frame", contact.frame), ("against", contact.against))
        )
        if first.joint == second.joint:
            names = f"{first.name!r} and {second.name!r}"
            raise InvalidModelError(f"contacts[{k}]: frames {names} are on one body")
        frames.append((first, second))
    return frames
