"""Run the comparison of engines under pytest: ``pytest --treefactor`` and ``@pytest.mark.treefactor``.

``comparison`` collects and runs it, ``items`` are its tests, ``marker`` selects tests of other files. The
module ``treefactor.pytest_plugin``, which pytest loads, imports this package only where it is used.
"""
