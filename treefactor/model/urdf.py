"""Load models from URDFs: `model` is `Model.from_urdf`.

Numbers are decimal ones in ASCII, such as -1, .5 and 2.E-3, as Pinocchio reads them; limits may also be
infinite. A prefix is a part of a name, whether it is bound or not: ``<drake:joint>`` is not read as a joint.
"""

from ._urdf_events import BOUNDED, KINDS
from .model import Model

__all__ = ["BOUNDED", "KINDS", "model", "model_of_text"]

model = Model.from_urdf
model_of_text = Model.from_urdf_string
