"""Load models from URDFs: `model` is `Model.from_urdf`."""

from ._urdf_joints import BOUNDED, KINDS
from .model import Model

__all__ = ["BOUNDED", "KINDS", "model", "model_of_text"]

model = Model.from_urdf
model_of_text = Model.from_urdf_string
