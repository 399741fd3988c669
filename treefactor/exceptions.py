"""Define the exceptions of treefactor: each derives from the builtin that users expect."""

from __future__ import annotations

import numpy as np


class TreefactorError(Exception):
    """Base of every exception raised by treefactor.

    Notes
    -----
    Thread-compatible.
    """


class InvalidTreeError(TreefactorError, ValueError):
    """A parent array that is not a tree.

    Attributes
    ----------
    row : int or None
        First offending row, 0-based.
    """

    def __init__(self, message: str, row: int | None = None):
        super().__init__(message)
        self.row = row


class ShapeError(TreefactorError, ValueError):
    """An array whose shape does not match the other arguments.

    Attributes
    ----------
    received, expected : tuple of int, str or None
        The shape received and the one expected.
    """

    def __init__(self, message: str, received=None, expected=None):
        super().__init__(message)
        self.received = received
        self.expected = expected


class DtypeError(TreefactorError, TypeError):
    """An array whose elements are not real numbers, or an output that cannot hold the result.

    Attributes
    ----------
    received : numpy.dtype or None
        The element type received.
    """

    def __init__(self, message: str, received=None):
        super().__init__(message)
        self.received = received


class NonFiniteError(TreefactorError, ValueError):
    """A NaN or an infinity in the input of an operation on a single matrix.

    Attributes
    ----------
    row : int or None
        First row of the argument that is not finite.
    """

    def __init__(self, message: str, row: int | None = None):
        super().__init__(message)
        self.row = row


class PatternError(TreefactorError, ValueError):
    """A matrix that is not symmetric, or has entries where its tree has none.

    Attributes
    ----------
    row, column : int or None
        The entry concerned.
    """

    def __init__(self, message: str, row: int | None = None, column: int | None = None):
        super().__init__(message)
        self.row = row
        self.column = column


class InvalidChainError(TreefactorError, ValueError):
    """An impossible chain of bodies: an axis that is not a unit vector, a negative mass, a wrong inertia.

    Attributes
    ----------
    joint : int or None
        First offending joint, 0-based.
    element : tuple of int
        The chain concerned of a batch, () for a single one.
    """

    def __init__(self, message: str, joint: int | None = None, element: tuple[int, ...] = ()):
        super().__init__(message)
        self.joint = joint
        self.element = element


class NotPositiveDefiniteError(TreefactorError, np.linalg.LinAlgError):
    """A matrix that is not positive definite: a pivot was not a positive finite number.

    Attributes
    ----------
    row : int or None
        Row of the failing pivot, 0-based.
    name : str or None
        Name of the joint that row belongs to, where known.
    """

    def __init__(self, message: str, row: int | None = None, name: str | None = None):
        super().__init__(message)
        self.row = row
        self.name = name


class InvalidModelError(TreefactorError, ValueError):
    """A joint or body that cannot be part of a model.

    Attributes
    ----------
    joint : str or None
        Name of the joint concerned.
    """

    def __init__(self, message: str, joint: str | None = None):
        super().__init__(message)
        self.joint = joint


class ConfigurationError(TreefactorError, ValueError):
    """A configuration with a (cos, sin) or quaternion not of unit length, or limits that exclude all values.

    Attributes
    ----------
    joint : str or None
        Name of the joint concerned.
    """

    def __init__(self, message: str, joint: str | None = None):
        super().__init__(message)
        self.joint = joint


class StepError(TreefactorError, RuntimeError):
    """A time step that failed: contradictory constraints, no solution, or an overflow.

    Attributes
    ----------
    solution : mlcp.Solution or None
        Its status says why, its certificate which constraints; None where there is no finite problem.
    time : float or None
        s, of the beginning of the step, where known.
    """

    def __init__(self, message: str, solution=None, time: float | None = None):
        super().__init__(message)
        self.solution = solution
        self.time = time


class CodegenError(TreefactorError, RuntimeError):
    """Code generation or compilation that failed."""


class AdapterError(TreefactorError, RuntimeError):
    """A dynamics engine that is not installed, or that cannot represent a model.

    Attributes
    ----------
    engine : str or None
        Name of the engine.
    file : str or None
        The robot description concerned.
    joint : str or None
        The joint or link concerned.
    """

    def __init__(self, message: str, engine: str | None = None, file=None, joint: str | None = None):
        super().__init__(message)
        self.engine = engine
        self.file = None if file is None else str(file)
        self.joint = joint
