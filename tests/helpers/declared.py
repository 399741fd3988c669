"""Cases of declared quantities for generic tests: models, arguments and options from the table."""

import itertools
from typing import NamedTuple

import numpy as np

import treefactor as tf
from helpers.dynamics_cases import MODELS
from treefactor.quantities.declaration import Quantity
from treefactor.quantities.functions import ENTRIES, QUANTITIES

SIZES = {"nq": "nq", "nv": "nv", "njoints": "njoints"}  # symbols in shapes of arguments


class Case(NamedTuple):
    """A quantity, a model and the options of a call."""

    quantity: Quantity
    model: tf.Model
    options: dict

    @property
    def function(self):
        """Public function."""
        return ENTRIES[self.quantity.name].function

    @property
    def names(self):
        """Names of the arguments that are arrays."""
        return [array.name for array in self.quantity.inputs]

    @property
    def layout(self):
        """Layout of the results."""
        return self.options.get("layout", "dense")

    def arguments(self, seed=0, size=(), optional=True):
        """Return random arguments by name; None for optional ones that are left out."""
        rng = np.random.default_rng(seed)
        arrays = {}
        for array in self.quantity.inputs:
            if array.role == "configuration":
                reach = np.full(self.model.nq, 3.0)
                arrays[array.name] = tf.random_configuration(self.model, rng, -reach, reach, size)
            else:
                shape = [getattr(self.model, axis) if isinstance(axis, str) else axis for axis in array.shape]
                drawn = rng.normal(size=(*size, *shape))
                arrays[array.name] = drawn if optional or not array.optional else None
        return arrays

    def call(self, arrays, **further):
        """Call the public function."""
        return self.function(self.model, **arrays, **self.options, **further)

    def parts(self, results):
        """Return the arrays of results."""
        return list(results) if isinstance(results, tuple) else [np.asarray(results)]

    def empty(self, results):
        """Return out= for results like these, full of NaN."""
        arrays = [np.full(result.shape, np.nan) for result in self.parts(results)]
        return tuple(arrays) if isinstance(results, tuple) else arrays[0]

    def rows(self, results, count):
        """Return results of a batch with the batch first, lanes undone."""
        arrays = self.parts(results)
        if self.layout == "lanes":
            arrays = [np.moveaxis(x, -1, 1).reshape(-1, x.shape[1])[:count] for x in arrays]
        return arrays


def options_of(quantity):
    """Yield the options of all calls: every choice, every flag alone and all together."""
    choices = [[(one.name, x) for x in one.choices] for one in quantity.options if one.kind == "choice"]
    flags = [one.name for one in quantity.options if one.kind == "flag"]
    sets = (
        [(), *[(name,) for name in flags], tuple(flags)] if len(flags) > 1 else [(), *[(x,) for x in flags]]
    )
    for chosen in itertools.product(*choices):
        for asked in sets:
            yield dict(chosen) | dict.fromkeys(asked, True)


def cases(models=MODELS, select=lambda case: True):
    """Return pytest parameters' values and ids of all cases."""
    made, ids = [], []
    for quantity in QUANTITIES.values():
        if any(one.kind not in ("choice", "flag") for one in quantity.options):
            continue
        for key, model in models.items():
            for options in options_of(quantity):
                case = Case(quantity, model, options)
                follows = model.coupling is not None
                if follows and (not quantity.mimic or options.get("method") == "aba"):
                    continue
                if select(case):
                    made.append(case)
                    ids.append("-".join([quantity.name, key, *map(str, options.values())]))
    return {"argvalues": made, "ids": ids}
