"""Settings and strategies that the state machines share."""

import copy
import pickle

from hypothesis import settings
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32 - 1)
WAYS = st.sampled_from([copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
MACHINE = settings(max_examples=25, stateful_step_count=15)
