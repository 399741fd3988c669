"""List every numbered table, figure and equation with a claim of each paper, with our verdict on it."""

from importlib import import_module
from pkgutil import iter_modules

from .exhibit import (
    NOT_EXECUTABLE,
    NOT_IMPLEMENTED,
    REPRODUCED,
    VERDICTS,
    Exhibit,
    contradicted,
    verdict_of,
)

__all__ = [
    "EXHIBITS",
    "NOT_EXECUTABLE",
    "NOT_IMPLEMENTED",
    "REPRODUCED",
    "VERDICTS",
    "Exhibit",
    "contradicted",
    "verdict_of",
]

# of every paper, by its key in `treefactor.papers.tables.PAPERS`; one module of this folder for each
EXHIBITS: dict[str, tuple[Exhibit, ...]] = {
    module.name.replace("_", "-"): import_module(f"{__name__}.{module.name}").EXHIBITS
    for module in iter_modules(__path__)
    if module.name != "exhibit"
}
