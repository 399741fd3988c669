"""Compute derivatives of the dynamics, of the kinematics and of configurations: matrices, products, Hessians.

`_first_order` has matrices of the dynamics, `_products` JVP and VJP, `_second_order` HVP and Hessians:
compiled functions, declared in `treefactor.quantities.derivatives`. `kinematics` has those of frames and
masses.
"""
