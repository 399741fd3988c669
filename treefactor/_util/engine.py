"""Words that the adapters to engines and the cross-validation share."""

UNEXPLAINED = "unexplained"  # what an engine's simulation shows with all its settings off
