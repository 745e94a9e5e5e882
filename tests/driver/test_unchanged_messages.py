"""Models in which no pass has work: copied without an IR, and with it the same bytes come out."""

import itertools
import logging
from typing import Any

import onnx
import pytest
import straightline as sl
from depth import examples
from random_flat import Flat
from straightline.driver.job import Request
from straightline.driver.options import RewriteOptions
from straightline.passes.base import watching
from tables import table

HEAD = '<ir_version: 8, opset_import: ["": 17]>'


@pytest.fixture(autouse=True)
def conditions() -> None:
    """Watch no pass: a watched one always runs."""


def parsed(nodes: str, more: str = "float[2] c = {1, 2}", head: str = HEAD) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"{head} g (float[2] x) => (float[2] y) <{more}> {{ {nodes} }}")


def is_copied(model: onnx.ModelProto, **options: Any) -> bool:
    request = Request(model, RewriteOptions.of(**options))
    return request.unchanged(request.plain_nodes()) is not None


def content(rewrite: Any, model: onnx.ModelProto) -> bytes | str:
    """Return the bytes of a result, or the error."""
    try:
        result = rewrite(model, verify=False)
    except sl.Error as error:
        return str(error)
    message = result if isinstance(result, onnx.ModelProto) else result.model
    return bytes(message.SerializeToString(deterministic=True))


def test_a_straight_model_is_copied() -> None:
    model = parsed("a = Add (x, c)  y = Relu (a)")
    result = sl.rewrite(model)
    assert is_copied(model)
    assert result == model
    assert result is not model
    result.graph.node[0].op_type = "Sub"  # the copy is the caller's own
    assert model.graph.node[0].op_type == "Add"


@table(
    ("a node on constants", parsed("a = Add (c, c)  y = Add (a, x)")),
    ("a node that nothing reads", parsed("y = Add (x, c)  a = Relu (y)")),
    ("an initializer that nothing reads", parsed("y = Relu (x)")),
    ("an Identity", parsed("a = Identity (x)  y = Add (a, c)")),
    ("a size", parsed("s = Shape (x)  a = Add (x, c)  y = Reshape (a, s)")),
    ("a part of a Concat", parsed("j = Concat <axis = 0> (x, c)  y = Gather (j, i)",
     "float[2] c = {1, 2}, int64[2] i = {0, 1}")),
    ("a part of a Concat by Split", parsed(
        "k = Concat <axis = 0> (x, c)  s, t = Split <axis = 0> (k)  y = Add (s, t)"
    )),
    ("a Constant", parsed(
        "k = Constant <value_floats = [1.0, 2.0]> ()  a = Add (x, k)  y = Add (a, c)"
    )),
    ("nodes out of order", parsed("y = Relu (a)  a = Add (x, c)")),
    ("an If", parsed("z = ReduceSum <keepdims = 0> (x)  b = Cast <to = 9> (z)  y = If (b) <"
     "then_branch = t () => (float[2] p) { p = Add (x, c) },"
     "else_branch = e () => (float[2] q) { q = Sub (x, c) }>")),
    ("an IR version with all initializers as inputs", parsed("y = Add (x, c)",
     head='<ir_version: 3, opset_import: ["": 9]>')))  # fmt: skip
def test_work_and_doubt_lead_to_the_ir(name: str, case) -> None:
    assert not is_copied(case)
    assert content(sl.rewrite, case) == content(sl.transform, case)


def test_options_that_change_a_model_lead_to_the_ir() -> None:
    model = parsed("a = Add (x, c)  y = Relu (a)")
    for options in (
        {"shapes": {"x": (2,)}},
        {"target": "opencv"},
        {"opset": 18},
        {"freeze_initializers": True},
        {"passes": "simplify"},
        {"base_dir": "."},
        {"values": {"x": [1.0, 2.0]}},
        {"assume_max": {"loop": 3}},
    ):
        assert not is_copied(model, **options), options


def test_watchers_and_logs_see_the_passes(caplog: pytest.LogCaptureFixture) -> None:
    class Names:
        def __init__(self) -> None:
            self.seen: list[str] = []

        def before(self, pass_: Any, model: Any) -> None:
            self.seen.append(pass_.name)

        def after(self, pass_: Any, model: Any, changed: bool) -> None:
            assert not changed

    model = parsed("a = Add (x, c)  y = Relu (a)")
    with watching(names := Names()):
        sl.rewrite(model)
    assert "fold-constants" in names.seen
    with caplog.at_level(logging.INFO, "straightline"):
        sl.rewrite(model)
    assert "fold-constants" in caplog.text


SMALL = ("Relu ({})", "Identity ({})", "Shape ({})", "Add ({}, {})", "CastLike ({}, {})")


@pytest.mark.sample(40)
@pytest.mark.parametrize("output", ["x", "c", "a", "b"])
@pytest.mark.parametrize("second", SMALL)
@pytest.mark.parametrize("first", SMALL)
def test_each_pair_of_nodes_in_both_ways(first: str, second: str, output: str) -> None:
    """Two nodes over all operands, in any order, with any value as the output."""
    for one in itertools.product("xcb", repeat=first.count("{")):
        for other in itertools.product("xca", repeat=second.count("{")):
            nodes = f"a = {first.format(*one)} b = {second.format(*other)}"
            text = f"g (float[2] x) => (float[M] {output}) <float[2] c = {{1, 2}}> {{ {nodes} }}"
            model = onnx.parser.parse_model(f"{HEAD} {text}")
            assert content(sl.rewrite, model) == content(sl.transform, model), text


def test_random_models_in_both_ways() -> None:
    copied = 0
    for seed in range(examples(80)):
        model = Flat(seed).model
        assert content(sl.rewrite, model) == content(sl.transform, model), seed
        copied += is_copied(model)
    assert copied
