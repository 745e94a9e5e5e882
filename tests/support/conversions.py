"""What tests of adapters share: convert one node, read it as text, compare the numbers."""

import functools
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import straightline
from depth import DEEP
from harness import as_model, assert_equal_outputs, assert_same_text
from sessions import open_session
from straightline import reference
from straightline.version_converter import ConversionError

X = np.array([[0.5, -2.0, 3.5], [1.0, 7.0, -4.25]], np.float32)
"""What 'float[2, 3] x' is fed with."""

INTEGERS = np.array([[-5, 3, 0], [2, -1, 9]], np.int32)
"""What 'int32[2, 3] x' is fed with."""

REDUCTIONS = (
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSumSquare"),
)
"""All but ReduceSum, whose axes became an input before theirs did."""

VERIFIED: Any = {"verify": "proof" if DEEP else False}
"""Options of a conversion whose numbers a test compares: a proof in the longer run alone."""

convert_version = functools.partial(straightline.convert_version, **VERIFIED)


def model(body: str, opset: int, signature: str = "float[2, 3] x", outputs: str = "y") -> Any:
    """A model with this body; the types of its outputs are not declared."""
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": {opset}]> g ({signature}) => ({outputs}) {{ {body} }}'
    )


def converted(body: str, opset: int, target: int, signature: str = "float[2, 3] x") -> list[str]:
    """The nodes of a converted model as text, with constants in the place of their names."""
    return written(convert_version(model(body, opset, signature), target).graph)


def written(graph: onnx.GraphProto) -> list[str]:
    """The nodes of a graph as text, with constants in the place of their names."""
    return [line.partition(" = ")[2] for line in statements(graph)]


def statements(graph: onnx.GraphProto) -> list[str]:
    """As `written`, with the names of the outputs."""
    held = {t.name: onnx.numpy_helper.to_array(t).tolist() for t in graph.initializer}
    lines = []
    for node in graph.node:
        inputs = ", ".join(str(held.get(name, name)) for name in node.input)
        attributes = ", ".join(sorted(f"{a.name} = {_value(a)}" for a in node.attribute))
        said = f" <{attributes}>" if attributes else ""
        lines.append(f"{', '.join(node.output)} = {node.op_type}{said} ({inputs})")
    return lines


def _value(attribute: onnx.AttributeProto) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value).tolist()
    return value.decode() if isinstance(value, bytes) else value


_BECOMES = re.compile(r"(\d+) to (\d+)(?:, ([^:]*?))?(?: => ([^:]*))?:\s+(.*?) =>\n(.*)", re.DOTALL)
"""Opsets, inputs, outputs, the body before and the body after."""


def assert_becomes(text: str) -> None:
    """Check what a body becomes, but for the names of what is computed on the way.

    The text is "12 to 11, int32[2] x => y: BODY =>", then a statement a line, in which constants
    stand in the place of their names: `y = Add (x, [1, 2])`. Without inputs there is float[2, 3] x.
    Constant nodes that nothing reads any more are not looked at.
    """
    match = _BECOMES.fullmatch(text)
    assert match, text
    source, target, signature, outputs, before, after = match.groups()
    body = model(before, int(source), signature or "float[2, 3] x", outputs or "y")
    graph = convert_version(body, int(target)).graph
    read = {name for node in graph.node for name in node.input} | {o.name for o in graph.output}
    unread = [n for n in graph.node if n.op_type == "Constant" and n.output[0] not in read]
    for node in unread:
        graph.node.remove(node)
    wanted = [line.strip() for line in after.splitlines() if line.strip()]
    assert _numbered(statements(graph)) == _numbered(wanted), "\n".join(statements(graph))


def assert_converts(
    target: int, before: str, after: str, feeds: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Check the whole text that a model becomes at a version, and that outputs are equal."""
    result = convert_version(as_model(before), target)
    assert_same_text(result, after)
    for feed in feeds:
        assert_equal_outputs(before, result, feed)


def _numbered(lines: Sequence[str]) -> list[str]:
    """Statements with numbers for the names of what they compute."""
    names: dict[str, str] = {}
    numbered = []
    for line in lines:
        outputs, _, call = line.partition(" = ")
        numbered.append(re.sub(r"\w+", lambda word: names.get(word[0], word[0]), call))
        names.update({name: f"#{len(names) + i}" for i, name in enumerate(outputs.split(", "))})
    return numbered


def assert_writes(
    body: str, source: int, target: int, nodes: Sequence[str], signature: str = "float[2, 3] x"
) -> None:
    """Check the nodes of a converted body, without their outputs and without Constants."""
    found = converted(body, source, target, signature)
    assert [line for line in found if not line.startswith("Constant ")] == list(nodes)


def assert_refuses(
    body: str, source: int, target: int, reason: str, signature: str = "float[2, 3] x"
) -> None:
    """Check that a body cannot be converted, and what is said of it."""
    with pytest.raises(ConversionError, match=reason):
        converted(body, source, target, signature)


def assert_carried(
    body: str,
    opset: int,
    targets: tuple[int, ...],
    feeds: Mapping[str, Any],
    signature: str = "float[2, 3] x",
    rtol: float = 0,
    sampled: bool = True,
) -> None:
    """Check that a model gives the same at other versions, and is valid there. `sampled` is false
    where onnxruntime computes something else than the specification says."""
    before = model(body, opset, signature)
    wanted = reference.run(before, dict(feeds))[0]
    before.graph.output[0].CopyFrom(_declared(before.graph.output[0].name, wanted))
    for target in targets:
        after = carried(before, target, proved=target == targets[0], sampled=sampled)
        (found,) = reference.run(after, dict(feeds))
        assert found.dtype == wanted.dtype and found.shape == wanted.shape, target
        np.testing.assert_allclose(found, wanted, rtol=rtol, err_msg=f"opset {target}")


def carried(
    proto: onnx.ModelProto, target: int, *, proved: bool, sampled: bool = True
) -> onnx.ModelProto:
    """Convert a model that runs compare: a valid one, and proved as well in the longer run."""
    is_proved = sampled and (proved or DEEP)
    after = convert_version(proto, target, verify="proof" if is_proved else False)
    onnx.checker.check_model(after, full_check=True)
    return after


def _declared(name: str, array: np.ndarray[Any, Any]) -> onnx.ValueInfoProto:
    elem_type = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.helper.make_tensor_value_info(name, elem_type, [None] * array.ndim)


def known_model(body: str, output: str, opset: int) -> onnx.ModelProto:
    """A model over inputs x, n and u of known shapes, with some constants."""
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": {opset}]>
        g (float[2, 3] x, float[2, 3] n, float[1, 2, 3] u) => ({output} y)
        <float[3, 2] v = {{1, 2, 3, 4, 5, 6}}, float[3] w = {{1, 2, 3}},
         int64 zero = {{0}}, int64 seven = {{7}}, int64 two = {{2}}, float three = {{3}}>
        {{ {body} }}""")


def known_feeds() -> dict[str, Any]:
    """What a `known_model` is fed with."""
    n = X[:, ::-1].copy()
    n[0, 0] = X[0, 0]
    return {"x": X, "n": n, "u": X[None]}


def assert_there_and_back(body: str, output: str, opset: int, targets: tuple[int, ...]) -> None:
    """Check that a `known_model` gives the same at other versions and back at its own."""
    before = known_model(body, output, opset)
    wanted = reference.run(before, known_feeds())
    for target in targets:
        after = carried(before, target, proved=target == targets[0])
        (found,) = reference.run(after, known_feeds())
        np.testing.assert_allclose(found, wanted[0], rtol=1e-6)
        assert found.dtype == wanted[0].dtype
        back = carried(after, opset, proved=target == targets[0])
        np.testing.assert_allclose(reference.run(back, known_feeds())[0], wanted[0], rtol=1e-6)


PLACES = ("graph", "branch", "body", "function")
"""Where a node may stand."""


def placed(body: str, opset: int, signature: str, place: str) -> Any:
    """A model with this body in its graph, a branch, the body of a Loop or a function."""
    names = ", ".join(re.findall(r"(?:\]|\b[a-z]+\d*) (\w+)(?=,|$)", signature))
    other, inner, function = "", body, ""
    then, otherwise = (re.sub(r"\by =", f"{name} =", body) for name in "qr")
    if place == "branch":
        inner = f"""y = If (go) <then_branch = t () => (q) {{ {then} }},
            else_branch = e () => (r) {{ {otherwise} }}>"""
        other = ", bool go"
    elif place == "body":
        inner = f"""unused, y = Loop (count, go, go) <body = body (
            int64 iteration, bool on, bool was) => (on_2, was_2, q) {{
            on_2 = Identity (on) was_2 = Identity (was) {then} }}>"""
        other = ", int64 count, bool go"
    elif place == "function":
        inner = f"y = local.F ({names})"
        function = f'<domain: "local", opset_import: ["": {opset}]> F ({names}) => (y) {{ {body} }}'
    imports = f'"": {opset}' + (', "local": 1' if function else "")
    return onnx.parser.parse_model(
        f"<ir_version: 8, opset_import: [{imports}]> g ({signature}{other}) => (y)"
        f" {{ {inner} }} {function}"
    )


def assert_carried_everywhere(
    body: str,
    opset: int,
    targets: Sequence[int],
    feeds: Mapping[str, Any],
    signature: str,
    places: Sequence[str] = PLACES,
    rtol: float = 0,
    in_onnxruntime: bool = True,
    sampled: bool = True,
) -> None:
    """Check that a body in each place gives the same at other versions, under the reference and,
    where it has the kernels, onnxruntime; and that what is written is valid.

    The last version takes every step on the way, so it alone is tried in another place than the
    first, one that the text chooses; in the longer run each version in each place.
    """
    chosen = zlib.crc32(f"{body}{signature}".encode()) % max(1, len(places) - 1)
    for place in places if DEEP else (places[0], *places[1:][chosen : chosen + 1]):
        before = placed(body, opset, signature, place)
        fed = dict(feeds)
        steering = {"branch": ["go"], "body": ["go", "count"]}.get(place, [])
        fed |= {name: np.array(True if name == "go" else 2) for name in steering}
        wanted = reference.run(before, fed)[0]
        before.graph.output[0].CopyFrom(_declared("y", wanted))
        if place == "body":  # at no iteration, its rank decides that of the result
            row = before.graph.node[-1].attribute[0].g.output[-1]
            row.CopyFrom(_declared(row.name, wanted[0]))
        seen = _by_onnxruntime(before, fed) if in_onnxruntime else None
        ends = (targets[0], targets[-1]) if place == places[0] else targets[-1:]
        for target in targets if DEEP else dict.fromkeys(ends):
            first = (place, target) == (places[0], targets[0])
            after = carried(before, target, proved=first, sampled=sampled)
            said = f"{place}, opset {target}"
            by_reference = reference.run(after, fed)[0]
            _assert_alike(by_reference, wanted, rtol, said)
            if wanted.dtype.kind == "f":  # Where of onnxruntime forgets the sign of zero
                signs = (np.signbit(a) & ~np.isnan(a) for a in (by_reference, wanted))
                np.testing.assert_array_equal(*signs, err_msg=said)
            found = None if seen is None else _by_onnxruntime(after, fed)
            assert seen is None or found is not None, f"{said}: onnxruntime has no kernel"
            if seen is not None and found is not None:
                _assert_alike(found, seen, rtol, f"{said}, onnxruntime")


def _assert_alike(found: Any, wanted: Any, rtol: float, said: str) -> None:
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, said
    if wanted.dtype.kind in "fc":
        np.testing.assert_allclose(found, wanted, rtol=rtol, err_msg=said)
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=said)


def _by_onnxruntime(proto: onnx.ModelProto, feeds: Mapping[str, Any]) -> Any:
    """The output; None where it has no kernel for a type, or none of the version."""
    try:
        session = open_session(proto)
    except ort.capi.onnxruntime_pybind11_state.NotImplemented:
        return None
    return session.run(None, dict(feeds))[0]
