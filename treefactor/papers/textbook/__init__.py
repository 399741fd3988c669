"""The papers' algorithms letter by letter, on scalars of any type: slow, and what tests and tables count."""
