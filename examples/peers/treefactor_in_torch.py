"""Dynamics of a robot by treefactor in PyTorch, measured as the peers are."""

from functools import partial

from peers.cost_in_torch import compete
from trajectory_in_torch import functions

import treefactor as tf
from treefactor.adapters import torch_


def load(problem: dict):
    """Return forward_dynamics, rollout and tool of a URDF."""
    model = tf.Model.from_urdf(str(problem["urdf"]))
    return partial(torch_.forward_dynamics, model), *functions(model, str(problem["frame"]))


if __name__ == "__main__":
    compete(load)
