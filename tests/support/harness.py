"""What tests of passes share: rewrite, compare the text, the invariants and the numbers."""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from sessions import by_reference, outputs
from straightline import ir
from straightline.facts.obstacle import Obstacle
from straightline.passes import Pass, Pipeline, Result

HEAD = '<ir_version: 8, opset_import: ["" : 17, "local" : 1, "com.microsoft" : 1]>\n'


def as_model(source: str | onnx.ModelProto, opset: int = 17) -> onnx.ModelProto:
    """Return the model of an ONNX text, of this opset without a header; a message comes back."""
    if not isinstance(source, str):
        return source
    head = "" if source.lstrip().startswith("<") else HEAD.replace("17", str(opset))
    return onnx.parser.parse_model(head + source)


def op_types(model: onnx.ModelProto) -> list[str]:
    """Return the operators of the nodes of a model, without those of bodies."""
    return [node.op_type for node in model.graph.node]


def run_passes(
    source: str | onnx.ModelProto, *passes: Pass, feeds: Iterable[Mapping[str, Any]] = ()
) -> Result[ir.ModelSource]:
    """Run passes on a model and check what must hold after any pass.

    The result is valid under full checking, its IR fits its invariants, the original is unchanged,
    a second run changes nothing, and outputs are equal on each feed.
    """
    model = as_model(source)
    original = model.SerializeToString(deterministic=True)
    loaded = ir.load(model)
    result = Pipeline(passes).apply(loaded)
    ir.verify(loaded)
    assert not Pipeline(passes).apply(loaded).changed, "a second run changed something"
    proto = ir.to_proto(loaded)
    assert model.SerializeToString(deterministic=True) == original
    check_model(proto)
    assert signature(proto) == signature(model)
    for feed in feeds:
        assert_equal_outputs(model, proto, feed)
    return Result(proto, result.changed, result.remarks, result.timings)


def check_model(model: onnx.ModelProto) -> None:
    """Full checking, but for constants that bodies list among their inputs: from IR version 4 on,
    and for bodies inside bodies, onnx's shape inference errs."""
    depth = 2 if model.ir_version < 4 else 1
    nodes = [*model.graph.node, *(node for f in model.functions for node in f.node)]
    bodies = [graph for node in nodes for graph in _bodies(node, depth)]
    unsure = any({i.name for i in b.input} & {t.name for t in b.initializer} for b in bodies)
    onnx.checker.check_model(model, full_check=not unsure)


def _bodies(node: onnx.NodeProto, depth: int) -> Iterator[onnx.GraphProto]:
    """The graphs that lie so many bodies deep or deeper."""
    for graph in (attribute.g for attribute in node.attribute if attribute.HasField("g")):
        if depth <= 1:
            yield graph
        for inner in graph.node:
            yield from _bodies(inner, depth - 1)


def signature(model: onnx.ModelProto) -> list[tuple[str, str]]:
    """Names and order of the inputs and outputs."""
    graph = model.graph
    return [("input", v.name) for v in graph.input] + [("output", v.name) for v in graph.output]


def assert_rewrites(
    pass_: Pass | Sequence[Pass], before: str, after: str, feeds: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Check that passes turn one text into another, and that outputs are equal on each feed."""
    passes = [pass_] if isinstance(pass_, Pass) else list(pass_)
    assert_same_text(run_passes(before, *passes, feeds=feeds).model, after)


def assert_keeps(pass_: Pass, text: str, reason: str) -> None:
    """Check that a pass leaves a model alone and says why."""
    result = run_passes(text, pass_)
    assert not result.changed
    assert_same_text(result.model, text)
    reasons = [remark.reason for remark in result.kept]
    assert any(reason in given for given in reasons), reasons


_NAME = re.compile(r"^(\s*)\[\w+\] ")
"""The name of a node before it."""


def refusal(check: Callable[..., object], *arguments: Any) -> str | None:
    """Return the obstacle that a check raises; None without one."""
    try:
        check(*arguments)
    except Obstacle as obstacle:
        return obstacle.reason
    return None


def assert_same_text(one: str | onnx.ModelProto, other: str | onnx.ModelProto) -> None:
    """Check that two models have the same text; show where they differ. Names of nodes count only
    where the second text has some."""
    got, wanted = canonical(one).splitlines(), canonical(other).splitlines()
    if not any(_NAME.match(line) for line in wanted):
        got = [_NAME.sub(r"\1", line) for line in got]
    assert got == wanted, "\n".join(difflib.unified_diff(wanted, got, "wanted", "got", lineterm=""))


def canonical(source: str | onnx.ModelProto) -> str:
    """The text of a model, with its initializers in it."""
    return str(onnx.printer.to_text(as_model(source)))


def assert_equal_outputs(
    before: str | onnx.ModelProto,
    after: str | onnx.ModelProto,
    feeds: Mapping[str, Any],
    **tolerances: float,
) -> None:
    """Check the outputs of the second model, under the reference and onnxruntime, against those of
    the first under the reference."""
    expected, result = by_reference(as_model(before), feeds), as_model(after)
    for got in (by_reference(result, feeds), run_in_onnxruntime(result, feeds)):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            assert_equal(one, other, **tolerances)


def assert_equal(one: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    """Check two results for the same type, shape and (but for rounding) values."""
    if isinstance(other, list):
        assert isinstance(one, list) and len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_equal(a, b, rtol, atol)
    elif other is None:
        assert one is None
    else:
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if other.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(one, other)


def run_in_onnxruntime(model: onnx.ModelProto, feeds: Mapping[str, Any]) -> list[Any]:
    """The outputs under onnxruntime, without its own optimizations."""
    return outputs(model, feeds, optimized=False)
