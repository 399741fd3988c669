"""Compute derivatives of the dynamics, of the kinematics and of configurations: matrices, products, Hessians.

`first_order` has matrices, `products` JVP and VJP, `second_order` HVP and Hessians of the dynamics;
`kinematics` has those of frames, masses and configurations. `_state_function` runs the compiled functions on
NumPy arrays.
"""
