"""Types of the compiled module."""

from ..derivatives._state_function import StateFunction

class ConstrainedDerivatives(StateFunction): ...
