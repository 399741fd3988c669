"""Identify inertial parameters and friction of robots from measured motions and torques."""

from .measurements import Measurements, read_measurements
from .urdf import write_urdf

__all__ = ["Measurements", "read_measurements", "write_urdf"]
