"""List the names of treefactor.control, each with the module that defines it."""

from .costs import ComCost as ComCost
from .costs import ControlCost as ControlCost
from .costs import CustomCost as CustomCost
from .costs import FrameCost as FrameCost
from .costs import FrameVelocityCost as FrameVelocityCost
from .costs import LimitCost as LimitCost
from .costs import StateCost as StateCost
from .inverse import InverseKinematics as InverseKinematics
from .inverse import inverse_kinematics as inverse_kinematics
from .regulation import ilqr as ilqr
from .results import IKResult as IKResult
from .results import ILQRProgress as ILQRProgress
from .results import ILQRResult as ILQRResult
from .results import ILQRStatus as ILQRStatus
from .results import Progress as Progress
from .results import Status as Status
from .samples import SampledMotions as SampledMotions
from .samples import SamplingResult as SamplingResult
from .samples import SamplingStatus as SamplingStatus
from .sampling import SamplingController as SamplingController
from .tasks import ComTask as ComTask
from .tasks import FrameTask as FrameTask
from .tasks import PostureTask as PostureTask
from .tasks import RelativeFrameTask as RelativeFrameTask
