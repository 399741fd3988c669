"""Make functions of a model callable from programs that XLA compiled; JAX itself is not needed here.

One handler, `capsule`, serves all functions: a call names its function by a number, for which `remember`
keeps a map. `digest` gives models a number that is the same in every process.
"""

from ..model.digests import digest, number_of
from ._handler import capsule, remember

__all__ = ["capsule", "digest", "number_of", "remember"]
