"""Run compiled functions on NumPy arrays: one class, one entry, one bound call, one general path.

This folder knows arrays and lanes, not bodies: a function of a robot is a subclass of `CompiledFunction`
beside the kernels that it calls.
"""
