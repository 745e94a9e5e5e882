"""Random loops and flat models with axes of 0 and 1, through each way to rewrite them.

A longer run: PYTHONPATH=tests/support python dev/fuzz/fuzz_rewrites.py --draws loops --models 1000.
"""

from fuzz_rewrites import DRAWS, check
from rewrite_faults import WAYS, in_process
from tables import table


@table(("loops", (5, 12, 22)), ("flat", range(10, 15)), ids=DRAWS)
def test_random_models_at_edges(draws, numbers):
    assert [(n, faults) for n in numbers if (faults := check(draws, [*WAYS], n, in_process))] == []
