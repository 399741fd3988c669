"""Programs lowered to instructions of the interpreter: fused, ordered, slots allocated."""
