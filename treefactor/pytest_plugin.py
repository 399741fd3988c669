"""Compare robots between engines under pytest: options, marker and fixture of treefactor.

pytest imports this module in every session. It imports what compares, and NumPy, only if ``--treefactor`` is
given, or a test uses the marker or the fixture.
"""

from __future__ import annotations

from pathlib import Path

import pytest

PLUGIN = "treefactor comparison"
MARKER = (
    "treefactor(engine, quantity, robot): a test that needs an engine, or is about a quantity or a robot; "
    "skipped if the engine is not installed"
)
REPORTS = {".json": "json", ".html": "html", ".sarif": "sarif", ".md": "markdown", ".svg": "badge"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    add = parser.getgroup("treefactor", "treefactor: the same robot in several engines").addoption
    add(
        "--treefactor",
        nargs="*",
        metavar="PATH",
        help="compare engines on robots: URDF, SDF or MJCF files, folders, patterns, bundled robots; "
        "without PATH those of the configuration, or the files among the arguments. Without other arguments "
        "no tests but these run",
    )
    add(
        "--treefactor-engines",
        nargs="+",
        metavar="E",
        help="engines to compare: names or Python files, also with commas",
    )
    add(
        "--treefactor-quantities",
        nargs="+",
        metavar="Q",
        help="quantities such as H, bias, qdd, also with commas",
    )
    add(
        "--treefactor-config",
        metavar="FILE",
        help="instead of the nearest treefactor.toml or pyproject.toml",
    )
    add(
        "--treefactor-fail-on",
        nargs="+",
        metavar="STATE",
        help="what fails: disagrees, refused, crashed (timed out, too), explained, impossible (inertias of "
        "links), stale",
    )
    add("--treefactor-require", action="store_true", help="fail where an engine is not installed")
    add(
        "--treefactor-report",
        action="append",
        default=[],
        metavar="FILE",
        help="also write a report: .json, .html, .sarif, .md or .svg (a badge); may be repeated",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the comparison if it is wanted."""
    config.addinivalue_line("markers", MARKER)
    if config.getoption("treefactor") is not None:
        for path in config.getoption("treefactor_report"):
            if Path(path).suffix not in REPORTS:
                raise pytest.UsageError(
                    f"--treefactor-report {path}: it must end in one of {', '.join(REPORTS)}"
                )
        from .check.plugin.comparison import Comparison

        config.pluginmanager.register(Comparison(config), PLUGIN)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the marked tests by the options, and skip those whose engines are not installed."""
    if any(item.get_closest_marker("treefactor") for item in items):
        from .check.plugin.marker import select

        items[:] = select(config, items)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the reports."""
    comparison = session.config.pluginmanager.get_plugin(PLUGIN)
    paths = session.config.getoption("treefactor_report")
    if comparison is not None and paths and not hasattr(session.config, "workerinput"):
        from ._util.files import replacing
        from .exceptions import TreefactorError
        from .report import conformance

        for path in map(Path, paths):
            try:
                with replacing(path) as draft:
                    getattr(conformance, f"write_{REPORTS[path.suffix]}")(draft, comparison.report())
            except TreefactorError as error:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
                reporter = session.config.pluginmanager.get_plugin("terminalreporter")
                if reporter is not None:
                    reporter.write_line(f"\nERROR: {error}", red=True)


@pytest.fixture
def treefactor_engines(request: pytest.FixtureRequest):
    """Return a function that loads a robot in an engine, in Pinocchio's conventions.

    ``treefactor_engines("mujoco", "arm.urdf", floating=False)`` returns a
    `treefactor.check.loaded.LoadedRobot` with ``mass_matrix(q)``, ``bias(q, v)`` and the other functions of
    the engine. The test is skipped if the engine is not installed.
    """
    from .check.plugin.marker import loader

    with loader(request.config) as load:
        yield load
