"""Bodies that list their initializers among their inputs: all do below IR version 4, and those of
tf2onnx later, too."""

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import assert_equal_outputs, assert_rewrites, check_model, run_passes, signature
from straightline import ir, reference
from straightline.passes import UnrollLoops
from straightline.passes.manager import registry
from straightline.passes.manager.pipeline_parser import parse_pipeline
from tables import table

LOOP = """<ir_version: 3, opset_import: ["" : 8]>
g (float[3] x, int64 n, bool c) => (float[3] y, float[k, 1, 3] z) {
  y, z = Loop (n, c, x) <body = b
    (int64 i, bool go, float[3] s, int64[2] shape = {1, 3}, float[3] w = {1, 2, 3})
      => (bool more, float[3] t, float[1, 3] u) {
    more = Identity (go)
    t = Add (s, w)
    u = Reshape (t, shape) }> }"""
IF = """<ir_version: 3, opset_import: ["" : 8]> g (bool c, float[3] x) => (float[3] y) {
  y = If (c) <
    then_branch = yes (float[3] w = {1, 2, 3}) => (float[3] p) { p = Add (x, w) },
    else_branch = no (float[3] w = {4, 5, 6}) => (float[3] q) { q = Add (x, w) }> }"""
SCAN_8 = """<ir_version: 3, opset_import: ["" : 8]>
g (float[2, 3] s, float[2, 4, 3] x) => (float[2, 3] y, float[2, 4, 1, 3] z) {
  y, z = Scan <num_scan_inputs = 1, body = b
    (float[3] a, float[3] e, float[3] w = {1, 2, 3}, int64[2] shape = {1, 3})
      => (float[3] t, float[1, 3] u) {
    v = Add (a, e)
    t = Mul (v, w)
    u = Reshape (t, shape)
  }> (, s, x) }"""
SCAN_9 = """<ir_version: 3, opset_import: ["" : 9]>
g (float[3] s, float[4, 3] x) => (float[3] y, float[4, 1, 3] z) {
  y, z = Scan <num_scan_inputs = 1, body = b
    (float[3] a, float[3] e, float[3] w = {1, 2, 3}, int64[2] shape = {1, 3})
      => (float[3] t, float[1, 3] u) {
    v = Add (a, e)
    t = Mul (v, w)
    u = Reshape (t, shape)
  }> (s, x) }"""
NESTED = """<ir_version: 3, opset_import: ["" : 8]>
g (float[3] x, int64 n, bool c) => (float[3] y) {
  y = Loop (n, c, x) <body = b
    (int64 i, bool go, float[3] s, bool yes = {1}, int64 two = {2}, float[3] w = {1, 2, 3})
      => (bool more, float[3] t) {
    more = Identity (go)
    a = If (yes) <
      then_branch = d (float[3] w2 = {4, 5, 6}) => (float[3] p) { p = Add (s, w2) },
      else_branch = e (float[3] w3 = {7, 8, 9}) => (float[3] q) { q = Mul (s, w3) }>
    r = Loop (two, go, a) <body = b2
      (int64 j, bool go2, float[3] s2, float[1] half = {0.5}) => (bool more2, float[3] t2) {
      more2 = Identity (go2)
      h = Mul (s2, half)
      t2 = Add (h, w) }>
    t = Identity (r) }> }"""


FLOATS = np.array([1.0, -2.0, 3.0], np.float32)
LOOP_FEEDS = {"x": FLOATS, "n": np.array(3), "c": np.array(True)}
_LOOP_4 = LOOP.replace("ir_version: 3", "ir_version: 4")
_LOOP_8 = _LOOP_4.replace("ir_version: 4", "ir_version: 8").replace('["" : 8]', '["" : 13]')
_IF_4 = IF.replace("ir_version: 3", "ir_version: 4").replace('["" : 8]', '["" : 9]')
_SCAN_8_4 = SCAN_8.replace("ir_version: 3", "ir_version: 4")
_SCAN_9_4 = SCAN_9.replace("ir_version: 3", "ir_version: 4")
_NESTED_4 = NESTED.replace("ir_version: 3", "ir_version: 4")
_ANYWHERE = """<ir_version: 4, opset_import: ["" : 9]>
g (float[3] x, int64 n, bool c) => (float[3] y) {
  y = Loop (n, c, x) <body = b
    (float[3] w = {1, 2, 3}, int64 i, bool go, float[3] v = {3, 4, 5}, float[3] s)
      => (bool more, float[3] t) {
    more = Identity (go)
    a = Mul (s, v)
    t = Sub (a, w) }> }"""
_IN_A_FUNCTION = """<ir_version: 8, opset_import: ["" : 13, "own" : 1]>
g (float[3] x, int64 n, bool c) => (float[3] y) { y = own.f (x, n, c) }
<opset_import: ["" : 13], domain: "own">
f (x, n, c) => (y) {
  y = Loop (n, c, x) <body = b
    (int64 i, bool go, float[3] s, float[3] w = {1, 2, 3}) => (bool more, float[3] t) {
    more = Identity (go)
    t = Add (s, w) }> }"""
LATER = {
    "loop-4": (_LOOP_4, LOOP_FEEDS),
    "loop-8": (_LOOP_8, LOOP_FEEDS),
    "if-4": (_IF_4, {"x": FLOATS, "c": np.array(False)}),
    "scan-8-4": (_SCAN_8_4,
     {"s": np.ones((2, 3), np.float32), "x": np.full((2, 4, 3), 2, np.float32)}),
    "scan-9-4": (_SCAN_9_4, {"s": np.ones(3, np.float32), "x": np.full((4, 3), 2, np.float32)}),
    "nested-4": (_NESTED_4, LOOP_FEEDS),
    "anywhere": (_ANYWHERE, LOOP_FEEDS)}  # fmt: skip
"""From IR version 4 on: onnx's full check refuses them, onnxruntime runs them."""
FEEDS = {
    **dict(LATER.values()),
    LOOP: LOOP_FEEDS,
    IF: {"x": FLOATS, "c": np.array(False)},
    SCAN_8: {"s": np.ones((2, 3), np.float32), "x": np.full((2, 4, 3), 2, np.float32)},
    SCAN_9: {"s": np.ones(3, np.float32), "x": np.full((4, 3), 2, np.float32)},
    NESTED: LOOP_FEEDS,
}
TEXTS = pytest.mark.parametrize(
    "text", list(FEEDS), ids=[*LATER, "loop", "if", "scan-8", "scan-9", "nested"]
)


def bodies_of(model: onnx.ModelProto) -> list[onnx.GraphProto]:
    """Every body, at any depth."""
    found, todo = [], list(model.graph.node)
    while todo:
        for attribute in todo.pop().attribute:
            if attribute.HasField("g"):
                found.append(attribute.g)
                todo += attribute.g.node
    return found


@TEXTS
def test_a_round_trip_keeps_everything(text: str, tmp_path) -> None:
    proto = onnx.parser.parse_model(text)
    check_model(proto)
    model = ir.load(proto)
    ir.verify(model)
    assert ir.to_proto(model) == proto
    ir.save(model, tmp_path / "m.onnx")
    assert onnx.load(tmp_path / "m.onnx") == proto


def test_a_body_that_does_not_list_them_is_kept_as_it_came() -> None:
    """IR version 3 does not allow it; onnx's checker and onnxruntime take it all the same."""
    text = IF.replace("yes (float[3] w = {1, 2, 3})", "yes ()").replace(
        "(float[3] p) {", "(float[3] p) <float[3] w = {1, 2, 3}> {"
    )
    model = onnx.parser.parse_model(text)
    assert model.graph.node[0].attribute[0].g.initializer
    assert ir.to_proto(ir.load(model)) == model


@TEXTS
def test_initializers_of_bodies_are_constants_not_inputs(text: str) -> None:
    for graph in list(ir.parse(text).graphs())[1:]:
        assert not set(graph.inputs) & set(graph.initializers)
        assert all(v.constant is not None and v.type is not None for v in graph.initializers)


@TEXTS
def test_the_reference_and_onnxruntime_run_it(text: str) -> None:
    assert_equal_outputs(text, text, FEEDS[text])


@pytest.mark.sample(52)
@TEXTS
@pytest.mark.parametrize("name", [entry.name for entry in registry.PASSES])
def test_every_pass(text: str, name: str) -> None:
    proto = onnx.parser.parse_model(text)
    model = ir.load(proto)
    parse_pipeline(name).apply(model)
    ir.verify(model)
    result = ir.to_proto(model)
    if model.is_as_loaded or result.ir_version >= 4:
        check_model(result)
    else:
        onnx.checker.check_model(result, full_check=True)
    assert signature(result) == signature(proto)
    assert_equal_outputs(text, result, FEEDS[text])


@TEXTS
def test_the_default_pipeline_with_values(text: str) -> None:
    feeds = dict(FEEDS[text])
    values = {name: feeds.pop(name) for name in ("n", "c") if name in feeds}
    result = sl.rewrite(onnx.parser.parse_model(text), values=values, verify=True)
    onnx.checker.check_model(result, full_check=True)
    assert not bodies_of(result)
    for one, other in zip(
        reference.run(result, feeds),
        reference.run(onnx.parser.parse_model(text), FEEDS[text]),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    sl.inspect(onnx.parser.parse_model(text))


@pytest.mark.sample(42)
@TEXTS
@pytest.mark.parametrize("target", [8, 9, 10, 11, 13, 18, 25])
def test_conversion(text: str, target: int) -> None:
    result = sl.convert_version(onnx.parser.parse_model(text), target)
    check_model(result)
    expected = reference.run(onnx.parser.parse_model(text), FEEDS[text])
    for one, other in zip(reference.run(result, FEEDS[text]), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    listed = [
        {i.name for i in b.input} & {t.name for t in b.initializer} for b in bodies_of(result)
    ]
    original = onnx.parser.parse_model(text)
    same = result.opset_import[0].version == original.opset_import[0].version
    assert result.ir_version < 4 or same or not any(listed)


def test_unrolled() -> None:
    assert_rewrites(
        UnrollLoops(),
        """<ir_version: 3, opset_import: ["" : 8]>
        g (float[3] x, int64 n = {2}, bool c = {1}) => (float[3] y) {
          y = Loop (n, c, x) <body = b
            (int64 i, bool go, float[3] s, float[3] w = {1, 2, 3}) => (bool more, float[3] t) {
            more = Identity (go)
            t = Add (s, w) }> }""",
        """<ir_version: 3, opset_import: ["" : 8]>
        g (float[3] x, int64 n = {2}, bool c = {1}) => (float[3] y) {
          w = Constant <value = float[3] w {1, 2, 3}> ()
          t_0 = Add (x, w)
          y = Add (t_0, w) }""",
        [{"x": FLOATS}],
    )


def test_a_copied_body_lists_its_constants_again() -> None:
    """As Constant nodes of opset 8 the integers would have to be floats."""
    before = """<ir_version: 3, opset_import: ["" : 8]>
      g (float[3] x, int64 n = {2}, bool c = {1}, int64 m) => (float[3] y) {
        y = Loop (n, c, x) <body = b (int64 i, bool go, float[3] s) => (bool more, float[3] t) {
          more = Identity (go)
          t = Loop (m, go, s) <body = b2
            (int64 j, bool go2, float[3] s2, int64[1] big = {1152921504606846977}, int64 k = {3})
              => (bool more2, float[3] t2) {
            more2 = Identity (go2)
            d = Sub (big, k)
            o = Cast <to = 1> (d)
            t2 = Add (s2, o) }> }> }"""
    result = run_passes(before, UnrollLoops(), feeds=[{"x": FLOATS, "m": np.array(2)}])
    bodies = bodies_of(result.model)
    assert len(bodies) == 2
    for body in bodies:
        assert [i.name for i in body.input[3:]] == [t.name for t in body.initializer]
        assert [n.op_type for n in body.node] == ["Identity", "Sub", "Cast", "Add"]


@table(
    (LOOP, "float[3] w = {1, 2, 3}", "has 4 inputs"),
    (IF, "float[3] w = {1, 2, 3}", "has 1 inputs"),
    (_LOOP_4, "float[3] w = {1, 2, 3}", "has 4 inputs"),
    (_IF_4, "float[3] w = {1, 2, 3}", "has 1 inputs"),
    (_ANYWHERE, "float[3] w = {1, 2, 3}", "has 4 inputs"),
)
def test_a_constant_without_a_value_is_refused(text: str, old: str, what: str) -> None:
    new = old.partition(" = ")[0].strip()
    with pytest.raises(ir.ModelError, match=what):
        ir.parse(text.replace(old, new))


def test_an_input_that_is_fed_has_a_useless_default() -> None:
    proto = onnx.parser.parse_model(LOOP.replace("float[3] s,", "float[3] s = {7, 7, 7},"))
    model = ir.load(proto)
    assert ir.to_proto(model) == proto
    assert [v.name for v in model.graph.nodes()[0].body("body").inputs] == ["i", "go", "s"]
    for one, other in zip(
        reference.run(proto, LOOP_FEEDS),
        reference.run(onnx.parser.parse_model(LOOP), LOOP_FEEDS),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_a_body_of_an_operator_of_another_domain_keeps_its_inputs() -> None:
    text = IF.replace('["" : 8]', '["" : 8, "own" : 1]').replace("= If", "= own.If")
    proto = onnx.parser.parse_model(text)
    model = ir.load(proto)
    assert [v.name for v in model.graph.nodes()[0].body("then_branch").inputs] == ["w"]
    assert ir.to_proto(model) == proto


def test_a_lower_ir_version_lists_them() -> None:
    down = sl.convert_version(sl.convert_version(onnx.parser.parse_model(LOOP), 13), 8)
    (body,) = bodies_of(down)
    assert sorted(i.name for i in body.input[3:]) == ["shape", "w"]
    onnx.checker.check_model(down, full_check=True)
    assert_equal_outputs(LOOP, down, LOOP_FEEDS)


def test_in_a_function_they_are_constants_too() -> None:
    """onnxruntime refuses such a function, though it runs the same body outside of one."""
    proto = onnx.parser.parse_model(_IN_A_FUNCTION)
    assert ir.to_proto(ir.load(proto)) == proto
    assert sl.verify(
        proto,
        sl.rewrite(proto, values={"n": 3, "c": True}),
        bound={"n": 3, "c": True},
        runtime="reference",
    )


@pytest.mark.parametrize("name", LATER)
def test_a_rewrite_lists_again_what_was_listed(name: str) -> None:
    text, feeds = LATER[name]
    proto = onnx.parser.parse_model(text)
    node = proto.graph.node.add(op_type="Identity", input=["y"], output=["out"])
    proto.graph.output.add(name="out").type.CopyFrom(proto.graph.output[0].type)
    del proto.graph.output[0]
    changed = sl.rewrite(proto, "eliminate-identities")
    assert node not in changed.graph.node
    for before, after in zip(bodies_of(proto), bodies_of(changed), strict=True):
        count = len(before.input) - len(before.initializer)
        assert len(after.input) == len(before.input)
        assert [i.name for i in after.input][count:] == [t.name for t in after.initializer]
    assert_equal_outputs(proto, changed, feeds)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", LATER)
def test_proof_and_verification_read_them(name: str) -> None:
    proto = onnx.parser.parse_model(LATER[name][0])
    rewritten = sl.rewrite(proto, verify=True)
    assert sl.prove(proto, proto).proved and sl.verify(proto, rewritten).equal
    assert sl.prove(proto, sl.convert_version(proto, 13)).proved
    changed = onnx.ModelProto.FromString(proto.SerializeToString())
    for body in bodies_of(changed):
        for tensor in body.initializer:
            tensor.CopyFrom(
                onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor) + 1, tensor.name)
                if tensor.data_type == 1
                else tensor
            )
    assert not sl.verify(proto, changed).equal
