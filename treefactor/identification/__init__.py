"""Identify the parameters of a robot from its motion: regressors, base parameters and estimates.

`identification` estimates base parameters and friction from samples; `_triangles` runs its factorization.
"""
