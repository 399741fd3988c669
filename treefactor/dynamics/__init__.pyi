"""List the names of the package, each with its module, for type checkers and for the package."""

from ..quantities.functions import *  # noqa: F403  # those of the section are there
from .recursions import bind as bind
