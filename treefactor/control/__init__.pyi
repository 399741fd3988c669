"""List the names of treefactor.control, each with the module that defines it."""

from .inverse_kinematics import InverseKinematics as InverseKinematics
from .inverse_kinematics import inverse_kinematics as inverse_kinematics
from .results import IKResult as IKResult
from .results import Progress as Progress
from .results import Status as Status
from .tasks import ComTask as ComTask
from .tasks import FrameTask as FrameTask
from .tasks import PostureTask as PostureTask
from .tasks import RelativeFrameTask as RelativeFrameTask
