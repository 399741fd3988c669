"""Types of the compiled module."""

from .frames import Frame
from .joints import Joint

KINDS: dict[str, str]
BOUNDED: tuple[str, ...]

def read(
    content: bytes, is_text: bool, floating: bool, mimic: bool
) -> tuple[list[Joint], list[Frame], str] | None: ...
