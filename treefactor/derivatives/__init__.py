"""Compute derivatives of the dynamics, of the kinematics and of configurations: matrices, products, Hessians.

`_state_function` runs compiled functions of a state on NumPy arrays, `_calls` calls and binds them.
"""
