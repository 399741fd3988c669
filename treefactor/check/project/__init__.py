"""Read a project's ``treefactor.toml``: its robots, engines and quantities, and the states that it expects.

``configuration`` reads the file, ``values`` checks its entries, ``expectations`` applies ``[[expect]]``,
``selection`` finds the robots and engines and runs the comparison.
"""
