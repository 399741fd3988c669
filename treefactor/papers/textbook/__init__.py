"""Mirror the papers' algorithms on scalars of any type, to be counted; each module names its deviations."""
