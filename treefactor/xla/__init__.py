"""Make functions of a model callable from programs that XLA compiled; JAX itself is not needed here.

One handler, `capsule`, serves all functions: a call names its function by a number, for which `remember`
keeps a map. `digest` gives models a number that is the same in every process.
"""

from ._handler import capsule, remember
from .digests import digest, number_of

__all__ = ["capsule", "digest", "number_of", "remember"]
