"""Small bodies of Loops and Scans, and known ones rewired, through each way to rewrite them."""

import functools

import onnx
import pytest
from loop_bodies import bodies, feeds
from rewired_loops import feeds as rewired_feeds
from rewired_loops import idioms, is_valid, rewirings
from rewrite_faults import LOOP_WAYS, WAYS, Original

BODY_PARTS, IDIOM_PARTS = 600, 200


@functools.cache
def every_body():
    return list(bodies())


@pytest.mark.sample(5)
@pytest.mark.parametrize("way", LOOP_WAYS)
@pytest.mark.parametrize("part", range(BODY_PARTS))
def test_bodies(part, way):
    """A rewrite of each body computes what the body computed."""
    for body in every_body()[part::BODY_PARTS]:
        model = onnx.parser.parse_model(body.text)
        given = feeds(body)[: 4 if WAYS[way].equality == "reals" else None]
        assert Original(model, given).faults(way) == [], body.text


@functools.cache
def every_idiom():
    return [(name, what, model) for name, one in idioms() for what, model in rewirings(one)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("way", LOOP_WAYS)
@pytest.mark.parametrize("part", range(IDIOM_PARTS))
def test_rewired(part, way):
    """A body that is nearly one that a pass recognizes keeps its meaning."""
    for name, what, model in every_idiom()[part::IDIOM_PARTS]:
        if is_valid(model):
            assert Original(model, rewired_feeds(model)).faults(way) == [], f"{name}: {what}"
