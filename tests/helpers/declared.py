"""Cases of declared quantities for generic tests: models, arguments and options from the table."""

import itertools
from typing import NamedTuple

import numpy as np

import treefactor as tf
from helpers.dynamics_cases import MODELS
from treefactor.quantities.declaration import NEEDED, Quantity
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
            arrays = [np.moveaxis(x, -1, 1).reshape(8 * len(x), x.shape[1])[:count] for x in arrays]
        return arrays


def options_of(quantity, model):
    """Yield the options of all calls: every choice, a frame, every flag alone and all together."""
    choices = [[(one.name, x) for x in one.choices] for one in quantity.options if one.choices]
    for option in quantity.options:
        if option.kind == "frame" and option.default is NEEDED:
            last = model.njoints - 1
            choices.append([(option.name, last if option.name == "joint" else model.joints[last].name)])
    flags = [one.name for one in quantity.options if one.kind == "flag"]
    sets = (
        [(), *[(name,) for name in flags], tuple(flags)] if len(flags) > 1 else [(), *[(x,) for x in flags]]
    )
    for chosen in itertools.product(*choices):
        for asked in sets:
            yield dict(chosen) | dict.fromkeys(asked, True)


def exists(quantity, model):
    """Return whether a quantity is defined for a model: it has the frame, or mass where it has a centre."""
    framed = any(one.kind == "frame" and one.default is NEEDED for one in quantity.options)
    massive = not framed and any(name == "InvalidModelError" for name, _ in quantity.errors)
    return not (framed and not model.njoints) and not (massive and not model.mass)


def cases(models=MODELS, select=lambda case: True):
    """Return pytest parameters' values and ids of all cases."""
    made, ids = [], []
    for quantity in QUANTITIES.values():
        for key, model in models.items():
            for options in options_of(quantity, model) if exists(quantity, model) else ():
                case = Case(quantity, model, options)
                follows = model.coupling is not None
                if follows and (not quantity.mimic or options.get("method") == "aba"):
                    continue
                if select(case):
                    made.append(case)
                    ids.append("-".join([quantity.name, key, *map(str, options.values())]))
    return {"argvalues": made, "ids": ids}
