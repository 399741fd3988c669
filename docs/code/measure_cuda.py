"""Measure programs on an NVIDIA GPU with PyTorch: `python docs/code/measure_cuda.py [ROBOT ...]`.

Prints for every function the deviation from the interpreter, configurations per second, and the rate of
reading arguments and writing results as a share of that of a copy on the same GPU.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

import treefactor as tf
from treefactor import robots

ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced")
FUNCTIONS = ("crba", "rnea", "forward_dynamics")
COMPARED, COUNT, TURNS = 1000, 1 << 18, 20  # configurations that are compared and timed, and repetitions
NUMBERS = 1 << 27  # of a copy, 1 GiB


def main() -> None:
    """Measure the robots named on the command line, or four of them."""
    try:
        import torch
    except ImportError:
        sys.exit("this measures on a GPU: install PyTorch with CUDA")
    if not torch.cuda.is_available():
        sys.exit("this measures on a GPU: PyTorch finds no CUDA device here")
    numbers = torch.empty(NUMBERS, dtype=torch.float64, device="cuda")
    other = torch.empty_like(numbers)
    copied = 16 * NUMBERS / seconds(torch, lambda: other.copy_(numbers))
    print(f"{torch.cuda.get_device_name()}: a copy reads and writes {copied / 1e9:.0f} GB/s")
    for name in sys.argv[1:] or ROBOTS:
        robot = robots.find(name)
        model = tf.Model.from_urdf(robot.path, robot.floating)
        program = tf.generate(model, FUNCTIONS)
        for function in FUNCTIONS:
            measure(torch, model, program, function, copied)


def measure(torch, model, program, name: str, copied: float) -> None:
    """Print the figures of one function."""
    function, kernels = program.functions[name], tf.compile(program, [name], backend="cuda")
    rng = np.random.default_rng(0)
    q = tf.random_configuration(model, rng, size=COMPARED)
    given = [q, *rng.normal(size=(len(function.inputs) - 1, COMPARED, model.nv))]
    layout = {"layout": "packed"} if name == "crba" else {}
    expected = tf.compile(program, [name]).call(name, *given, **layout)
    arrays = [torch.tensor(np.resize(x, (COUNT, x.shape[1])).T.copy(), device="cuda").T for x in given]
    out = torch.empty(function.output.size, COUNT, dtype=torch.float64, device="cuda").T
    stream = torch.cuda.current_stream().cuda_stream
    call = partial(kernels.call, name, *arrays, out=out, stream=stream)
    call()
    results = out[:COMPARED].cpu().numpy().reshape(expected.shape)
    deviation = np.abs(results - expected).max() / np.abs(expected).max()
    time, entries = seconds(torch, call), sum(size for _, size in function.inputs) + function.output.size
    rate = 8 * entries * COUNT / time
    print(
        f"{model.name:16} {name:17} deviation {deviation:.1e}, {COUNT / time / 1e6:8.1f} million/s, "
        f"{rate / copied:.2f} of the rate of a copy"
    )


def seconds(torch, call) -> float:
    """Return the median time of a call on the current stream, after two to warm up."""
    times = []
    for _ in range(TURNS + 2):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1000)
    return float(np.median(times[2:]))


if __name__ == "__main__":
    main()
