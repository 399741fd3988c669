"""List the names of the package, each with its module, for type checkers and for the package."""

from ..quantities.functions import *  # noqa: F403  # those of the section are there
from .fused import Kinematics as Kinematics
from .jacobians import BodyMotions as BodyMotions
from .tasks import OperationalSpace as OperationalSpace
from .tasks import operational_space as operational_space
