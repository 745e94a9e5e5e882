"""The default pipeline adds and multiplies floats in the order of the model."""

import random

import edge_loops
import loop_forms
import numpy as np
import onnx
import ordered_sums
import pytest
import random_loops
from depth import some
from straightline import ir
from straightline.passes import straighten
from straightline.reference import EvaluationError

LENGTHS = (0, 1, 2, 7)


def of_forms(seed):
    dice = random.Random(seed)
    model = loop_forms.loop_of_forms(dice)
    return model, [loop_forms.feeds(model, dice, n, "normal") for n in LENGTHS]


def at_random(seed):
    model = random_loops.random_loop(random.Random(seed))
    return model, [random_loops.feeds(n, True) for n in LENGTHS]


def at_edges(seed):
    dice = random.Random(seed)
    model = edge_loops.edge_loop(dice)
    while not is_well_formed(model):
        model = edge_loops.edge_loop(dice)
    return model, [edge_loops.feeds(model, dice, n, n) for n in LENGTHS]


def is_well_formed(model):
    try:
        return ir.load(model) is not None
    except ir.ModelError:
        return False


def changes(model, feeds, seed, **options):
    """The outputs that change in a pipeline, bit for bit."""
    result = straighten(**options).run(onnx.ModelProto.FromString(model.SerializeToString())).model
    for number, feed in enumerate(feeds):
        feed = ordered_sums.spread(feed, seed + number)
        try:
            before = ordered_sums.run(model, feed)
        except EvaluationError:  # rows that are not there
            continue
        for name, one, other in zip(
            model.graph.output, before, ordered_sums.run(result, feed), strict=True
        ):
            if one.dtype.kind == "f" and not np.array_equal(one, other, equal_nan=True):
                yield name.name, feed, one, other


@pytest.mark.parametrize("draw", [of_forms, at_random, at_edges])
def test_bits_stay(draw):
    for seed in some(range(400), 6):
        model, feeds = draw(seed)
        assert not list(changes(model, feeds, seed)), (draw, seed)


def test_bits_may_change_otherwise():
    """Windows of the lengths that these loops draw are summed by running sums."""
    assert any(list(changes(*of_forms(seed), seed, exact=False)) for seed in (5, 28))
