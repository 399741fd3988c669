"""Name constants that the adapters to engines and the cross-validation share."""

UNEXPLAINED = "unexplained"  # a difference that remains with all settings of an engine off
