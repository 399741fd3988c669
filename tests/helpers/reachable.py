"""Names of functions, classes and exceptions that are attributes of treefactor, in `__all__` or not."""

from inspect import ismodule

import treefactor as tf

REACHABLE = [name for name in tf._MODULES if not ismodule(getattr(tf, name))]
