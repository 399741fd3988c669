"""Types of the compiled rollouts."""

from typing import Any

from .._functions._compiled_function import CompiledFunction

METHODS: tuple[str, ...]

class Simulation:
    width: int
    def __new__(cls, model: Any, *arguments: Any) -> Simulation: ...

class Recursive(Simulation): ...

class Rollout(CompiledFunction):
    def __init__(
        self, model: Any, simulation: Simulation, method: str, steps: int | None = None, each: bool = False
    ) -> None: ...

class Step(Rollout):
    def __init__(self, model: Any, method: str) -> None: ...

class Trajectory(Rollout):
    def __init__(self, model: Any, steps: int | None, method: str, count: int) -> None: ...

def count_of_steps(steps: Any) -> int | None: ...
