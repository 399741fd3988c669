"""Cases of public functions of arrays for generic tests: models, arguments and options from the table."""

import itertools
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest

import treefactor as tf
from helpers.dynamics_cases import MODELS
from helpers.sweeps import in_turn
from helpers.undeclared import UNDECLARED, tip
from treefactor import se3, so3
from treefactor.quantities.declaration import NEEDED, Quantity
from treefactor.quantities.functions import ENTRIES, QUANTITIES

KEYS = {"columns": ("inertia", "armature", "dry", "offset")}  # values beside the defaults, for dense results
TURNED = {  # arrays that are no vectors, by their shapes: made of poses
    (3, 4): lambda M: M,
    (3, 3): lambda M: M[..., :3].copy(),
    (7,): se3.to_xyzquat,
    (4,): lambda M: so3.to_quaternion(M[..., :3]),
}
STEPS, H = 3, 0.01  # number and length of time steps


class Case(NamedTuple):
    """A quantity, a model and the options of a call."""

    quantity: Quantity
    model: tf.Model
    options: dict

    @property
    def function(self):
        """Public function, or one that calls it."""
        key = self.quantity.key
        return UNDECLARED[key].function if key in UNDECLARED else ENTRIES[key].function

    @property
    def names(self):
        """Names of the arguments that are arrays."""
        return [array.name for array in self.quantity.inputs]

    @property
    def layout(self):
        """Layout of the results."""
        return self.options.get("layout", "dense")

    @property
    def is_plain(self):
        """Whether all options but frames have their defaults."""
        free = {one.name for one in self.quantity.options if one.kind in ("frame", "number")}
        defaults = {one.name: one.default_value for one in self.quantity.options}
        return all(value == defaults[name] for name, value in self.options.items() if name not in free)

    @property
    def has_first_state(self):
        """Whether results begin with the arguments, whatever the rest of them is."""
        return any(array.role == "series" for array in self.quantity.inputs)

    def counts_steps(self, array):
        """Return whether an argument has the number of steps."""
        return array.role == "series" and array.needed and self.options["steps"] is None

    def may_be_absent(self, array):
        """Return whether an argument may be None."""
        return array.optional and not self.counts_steps(array)

    @property
    def configurations(self):
        """Names of the arguments that are configurations."""
        return [array.name for array in self.quantity.inputs if array.role == "configuration"]

    @property
    def directions(self):
        """Names of the arguments of which a state may have several."""
        return [array.name for array in self.quantity.inputs if array.role == "direction"]

    def arguments(self, seed=0, size=(), optional=True):
        """Return random arguments by name; None for optional ones that are left out."""
        rng = np.random.default_rng(seed)
        arrays = {}
        for array in self.quantity.inputs:
            if array.role == "configuration":
                reach = np.full(self.model.nq, 3.0)
                arrays[array.name] = tf.random_configuration(self.model, rng, -reach, reach, size)
            elif array.shape in TURNED:
                arrays[array.name] = TURNED[array.shape](se3.exp(rng.normal(size=(*size, 6))))
            else:
                drawn = rng.normal(size=(*size, *self.shape(array)))
                drawn = np.abs(drawn) + 0.5 if array.name == "damping" else drawn  # tasks may be singular
                arrays[array.name] = np.asarray(drawn) if optional or not self.may_be_absent(array) else None
        return arrays

    def shape(self, array):
        """Return the shape of an argument for one configuration."""
        axes = array.shape[1:] if self.options.get("steps") and array.role == "series" else array.shape
        return [self.length(axis) for axis in axes]

    def length(self, axis):
        """Return the length of an axis of the declaration."""
        if isinstance(axis, str):
            lengths = {"T": STEPS, "T + 1": STEPS + 1} | self.options
            return lengths[axis] if axis in lengths else getattr(self.model, axis)
        return axis

    def call(self, arrays, **further):
        """Call the public function."""
        if not self.quantity.has_model:
            return self.function(**arrays, **further)
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
            choices.append([(option.name, model.njoints - 1 if option.name == "joint" else tip(model))])
        if option.kind == "number":
            choices.append([(option.name, H)])
        if option.kind == "count":
            choices.append([(option.name, value) for value in (None, STEPS)])
        if option.kind == "key":
            choices.append([(option.name, value) for value in (option.default, KEYS[option.name])])
    flags = [one.name for one in quantity.options if one.kind == "flag"]
    sets = (
        [(), *[(name,) for name in flags], tuple(flags)] if len(flags) > 1 else [(), *[(x,) for x in flags]]
    )
    for chosen in map(dict, itertools.product(*choices)):
        if chosen.get("layout", "dense") == "dense" or not any(
            chosen.get(key) == x for key, x in KEYS.items()
        ):
            yield from (chosen | dict.fromkeys(asked, True) for asked in sets)


def exists(quantity, model):
    """Return whether a quantity is defined for a model: it has the joint, or mass where it has a centre."""
    of_joint = any(one.name == "joint" for one in quantity.options)
    framed = any(one.kind == "frame" and one.default is NEEDED for one in quantity.options)
    massive = not framed and any(name == "InvalidModelError" for name, _ in quantity.errors)
    return not (of_joint and not model.njoints) and not (massive and not model.mass)


def supports(case):
    """Return whether a quantity supports a model with mimic joints, if it is one."""
    return (
        case.model is None
        or case.model.coupling is None
        or (case.quantity.mimic and case.options.get("method") != "aba")
    )


def cases(models=MODELS, select=lambda case: True, undeclared=False):
    """Return pytest parameters' values and ids of all cases; on request also of undeclared functions."""
    quantities = [*QUANTITIES.values()]
    quantities += [one.quantity for one in UNDECLARED.values()] if undeclared else []
    made, ids = [], []
    for quantity in quantities:
        for key, model in models.items() if quantity.has_model else [("", None)]:
            for options in options_of(quantity, model) if exists(quantity, model) else ():
                case = Case(quantity, model, options)
                if supports(case) and select(case):
                    made.append(case)
                    values = [name if x is True else getattr(x, "name", x) for name, x in options.items()]
                    ids.append("-".join([quantity.key, key, *map(str, values)]))
    return {"argvalues": made, "ids": ids}


def each_case(models=MODELS, select=lambda case: True, undeclared=False):
    """Return a decorator that calls a test with all cases, of which the fast suite runs representatives.

    These are all cases of the first model, which has every kind of joint, and those with default options of
    the model with mimic joints. The cases of a quantity are those of one test.
    """
    first = next(iter(models.values()))
    made = cases(models, select, undeclared)

    def is_representative(case):
        return case.model in (None, first) or (case.is_plain and case.model is MODELS["followers"])

    groups = defaultdict(dict)
    for case, name in zip(made["argvalues"], made["ids"], strict=True):
        groups[case.quantity.key, is_representative(case)][name] = case
    names = [key if fast else f"{key}, other models" for key, fast in groups]
    return in_turn(
        "case",
        [
            pytest.param(group, id=name, marks=() if fast else pytest.mark.slow)
            for (_, fast), group, name in zip(groups, groups.values(), names, strict=True)
        ],
    )
