from typing import Any

import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs, assert_same_text, op_types
from straightened import X, Y, assert_straightens, straightened, told
from straightline import convert_version, ir
from straightline.version_converter import ConversionError, convert, subgraph_extraction
from straightline.version_converter.unblock import CONSTRUCTS, PIPELINES, UnblockResult, unblock


def test_an_if_that_does_not_stand_in_the_way_stays() -> None:
    assert_straightens(
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x) => (float[2] y, float[2] z) <bool yes = {1}, int64 one = {1}> {
            s = SequenceConstruct (x, x)
            y = SequenceAt (s, one)
            z = If (yes) <
                then_branch = t () => (float[2] a) { a = Neg (x) },
                else_branch = e () => (float[2] b) { b = Exp (x) }> }""",
        10,
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x) => (float[2] y, float[2] z) <bool yes = {1}> {
            z = If (yes) <
                then_branch = t () => (float[2] a) { a = Neg (x) },
                else_branch = e () => (float[2] b) { b = Exp (x) }>
            y = Identity (x) }""",
        {"x": X},
    )


def test_shapes_decide_an_if_whose_branches_differ() -> None:
    assert_straightens(
        """<ir_version: 8, opset_import: ["": 17]> g (float[N] x) => (float[N] y) {
            s = Shape (x)
            rank = Size (s)
            one = Constant <value_int = 1> ()
            axes = Constant <value_ints = [1]> ()
            c = Equal (rank, one)
            k = Relu (x)
            y = If (c) <
                then_branch = t () => (float[N] a) { a = Neg (k) },
                else_branch = e () => (float[N, 1] b) { b = Unsqueeze (k, axes) }> }""",
        10,
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[N] x) => (float[N] y) { k = Relu (x)  y = Neg (k) }""",
        {"x": X},
    )


def test_a_scan_below_opset_8_becomes_a_loop() -> None:
    text = """<ir_version: 8, opset_import: ["": 11]>
        g (float[N, 2] x, float[2] h) => (float[2] y, float[N, 2] z) {
            y, z = Scan <num_scan_inputs = 1,
                body = b (float[2] s, float[2] e) => (float[2] t, float[2] o) {
                    a = Mul (s, s)
                    t = Add (a, e)
                    o = Identity (t)
                }> (h, x) }"""
    made, found = straightened(text, 7)
    assert "Loop" in {node.op_type for node in made.graph.node}
    assert "Scan 'y': rewritten, is a Loop now, because" in "\n".join(told(found))
    for length in (1, 4):
        x = np.linspace(-1, 1, 2 * length, dtype=np.float32).reshape(length, 2)
        assert_equal_outputs(text, made, {"x": x, "h": X / 4})


FUNCTION = """<ir_version: 8, opset_import: ["": 17, "local": 1]>
    g (float[2] x, float[2] y) => (float[2] b) <int64 zero = {0}, int64 one = {1}> {
        p = local.pick (x, y, zero)
        q = local.pick (x, y, one)
        b = Sub (p, q) }
    <domain: "local", opset_import: ["": 17]> pick (p, q, k) => (r) {
        s = SequenceConstruct (p, q)
        r = SequenceAt (s, k) }"""


def test_calls_decide_what_a_function_does_not() -> None:
    """It is gone then, since nothing calls it any more."""
    _, found = assert_straightens(
        FUNCTION,
        10,
        """<ir_version: 8, opset_import: ["": 17, "local": 1]>
        g (float[2] x, float[2] y) => (float[2] b) { b = Sub (x, y) }""",
        {"x": X, "y": Y},
    )
    assert told(found)[0].startswith("SequenceAt 'r_p': rewritten, lowered, it is element 0, becau")


def test_a_function_decides_by_itself() -> None:
    text = FUNCTION.replace("SequenceAt (s, k)", "SequenceAt (s, m)").replace(
        "s = SequenceConstruct", "m = Constant <value_int = 1> ()  s = SequenceConstruct"
    )
    made, found = straightened(text, 10)
    assert [node.op_type for node in made.functions[0].node] == ["Identity"]
    assert [remark.path for remark in found.remarks] == ["local::pick/r", "local::pick/s"]
    assert_equal_outputs(text, made, {"x": X, "y": Y})


UNDECIDED = """<ir_version: 8, opset_import: ["": 17]>
    g (float[2] x, float[2] y, int64 k) => (float[2] b) <int64 one = {1}> {
        s = SequenceConstruct (x, y)
        a = SequenceAt (s, k)
        t = SequenceConstruct (y, x)
        c = SequenceAt (t, one)
        b = Add (a, c) }"""


def test_run_time_decisions_stay_with_their_reason() -> None:
    made, found = straightened(UNDECIDED, 10)
    assert op_types(made) == ["SequenceConstruct", "SequenceAt", "Add"]
    assert [remark.path for remark in found.remarks] == ["c", "t"]
    assert found.obstacles["SequenceAt", "a"] == (
        "its position depends on input 'k'; decide it with --set k=... (values= in Python)"
    )


def test_pinned_values_stay() -> None:
    proto = onnx.parser.parse_model(UNDECIDED)
    note = proto.graph.quantization_annotation.add(tensor_name="c")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="x")
    with pytest.raises(ConversionError) as caught:
        convert(ir.load(proto), 10)
    model = ir.load(proto)
    remarks, kept = unblock(model, caught.value.failures, PIPELINES[0])
    assert remarks == ()
    assert "its output 'c' is named from outside the data flow" in kept["SequenceAt", "c"]
    assert_same_text(ir.to_proto(model), proto)


def test_other_failures_are_not_looked_at() -> None:
    text = """<ir_version: 8, opset_import: ["": 21]>
        g (string[2] p, string[2] q) => (bool[2] y) { y = Equal (p, q) }"""
    made, found = straightened(text, 11)
    assert found == UnblockResult((), {})
    assert_same_text(made, text)


def test_a_scan_of_opset_8_with_lengths_goes_down_by_way_of_opset_9() -> None:
    """As the refusal says."""
    proto = as_model(
        """g (float[2, 3] x, int64[2] k) => (float[2] l, float[2, 3] y) <float[2] s = {1, 2}> {
            l, y = Scan <num_scan_inputs = 1, body = b (float before, float e)
                => (float after, float r) { after = Add (before, e)  r = Neg (after) }> (k, s, x)
        }""",
        8,
    )
    with pytest.raises(ConversionError, match="convert to opset 9 first"):
        convert_version(proto, 7)
    converted = convert_version(convert_version(proto, 9), 7)
    onnx.checker.check_model(converted, full_check=True)
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    for lengths in ([3, 3], [1, 2], [3, 1]):
        assert_equal_outputs(proto, converted, {"x": x, "k": np.array(lengths)})


def test_values_read_by_a_removed_construct_go() -> None:
    """The first Loop holds a construct of its own, which nothing needs any more."""
    text = """<ir_version: 8, opset_import: ["": 17]> g (float[2] x, int64 n) => (float[2] y)
        <int64 two = {2}, bool yes = {1}, bool no = {0}, int64 zero = {0}> {
            u = Loop (n, yes, x) <body = b (int64 i, bool k, float[2] a) => (bool go, float[2] r) {
                go = Identity (k)  first = SequenceConstruct (a)
                last = Loop (two, yes, first) <body = c (int64 j, bool m, seq(float[2]) s)
                                               => (bool on, seq(float[2]) t) {
                    on = Identity (m)  t = SequenceInsert (s, a) }>
                r = SequenceAt (last, zero) }>
            y = Loop (n, yes, x) <body = d (int64 i2, bool k2, float[2] a2)
                                  => (bool go2, float[2] r2) {
                go2 = Identity (k2)
                z = If (no) <then_branch = e () => (seq(float[2]) p) { p = SequenceConstruct (u) },
                             else_branch = f () => (seq(float[2]) q) { q = SequenceConstruct (a2) }>
                w = SequenceAt (z, zero)  r2 = Add (w, w) }> }"""
    made, _ = straightened(text, 11)
    assert [node.output[0] for node in made.graph.node] == ["y"]
    converted = convert_version(onnx.parser.parse_model(text), 11)
    for n in (0, 3):
        assert_equal_outputs(text, converted, {"x": X, "n": np.array(n)})


def test_the_rank_behind_a_decided_if_is_known() -> None:
    """PyTorch writes such an If before each scatter: the rank of its result is that of a branch."""
    text = """<ir_version: 8, opset_import: ["": 18]>
        g (float[N, 2] x, int64[M, 2] i, float[M, 2] u) => (y) <int64 zero = {0}> {
            s = Shape (x)
            rank = Size (s)
            c = Equal (rank, zero)
            d = If (c) <
                then_branch = t () => (float[K] a) {
                    flat = Constant <value_ints = [-1]> () a = Reshape (x, flat) },
                else_branch = e () => (float[N, 2] b) { b = Identity (x) }>
            y = ScatterElements <axis = 0, reduction = "max"> (d, i, u) }"""
    proto = onnx.parser.parse_model(text)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    feeds = {"x": x, "i": np.array([[1, 0]]), "u": np.array([[3, -9]], np.float32)}
    for rewrite in (True, False):
        assert_equal_outputs(text, convert_version(proto, 13, rewrite=rewrite), feeds)


def test_a_sequence_becomes_what_is_in_it_and_nothing_else_changes() -> None:
    """The Identity and the two constants that are the same stay: nobody asked."""
    _, found = assert_straightens(
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x, float[2] y) => (float[2] b) <int64 zero = {0}, int64 other = {0}> {
            s = SequenceConstruct (x, y)
            a = SequenceAt (s, zero)
            copy = Identity (a)
            sum = Add (copy, y)
            k = Gather (sum, other)
            b = Add (k, sum) }""",
        10,
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x, float[2] y) => (float[2] b) <int64 other = {0}> {
            copy = Identity (x)
            sum = Add (copy, y)
            k = Gather (sum, other)
            b = Add (k, sum) }""",
        {"x": X, "y": Y},
    )
    assert told(found) == [
        "SequenceAt 'a': rewritten, lowered, it is element 0, because SequenceAt does not exist in"
        " opset 10",
        "SequenceConstruct 's': rewritten, removed, nothing needs it, because SequenceConstruct"
        " does not exist in opset 10",
    ]


def test_nodes_between_parts_of_a_sequence_stay_between() -> None:
    assert_straightens(
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x, float[2] y) => (float[2] b, float n) <int64 zero = {0}, int64 one = {1}> {
            s = SequenceConstruct (x, y)
            a = SequenceAt (s, zero)
            c = Relu (a)
            t = SequenceInsert (s, c)
            k = Exp (c)
            d = SequenceAt (t, one)
            b = Add (d, k)
            m = SequenceLength (t)
            n = Cast <to = 1> (m) }""",
        10,
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x, float[2] y) => (float[2] b, float n) <int64 m = {3}> {
            c = Relu (x)
            k = Exp (c)
            b = Add (y, k)
            n = Cast <to = 1> (m) }""",
        {"x": X, "y": Y},
    )


def test_a_list_that_a_loop_collects() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[N] x, int64 n) => (float[M] b) <bool yes = {1}> {
            e = SequenceEmpty ()
            s = Loop (n, yes, e) <
                body = b (int64 i, bool c, seq(float[K]) s0) => (bool c, seq(float[K]) s1) {
                    f = Cast <to = 1> (i)
                    v = Add (x, f)
                    s1 = SequenceInsert (s0, v) }>
            b = ConcatFromSequence <axis = 0> (s) }"""
    feeds = [{"x": X, "n": np.array(n)} for n in (1, 5)]
    _, found = assert_straightens(
        text,
        10,
        """<ir_version: 8, opset_import: ["": 17]> g (float[N] x, int64 n) => (float[M] b)
        <int64 k = {0}, int64 k_1 = {1}, int64[1] axes = {1}, int64[1] target = {-1}> {
            limit = Max (n, k)
            numbers = Range (k, limit, k_1)
            f = Cast <to = 1> (numbers)
            f_lifted = Unsqueeze (f, axes)
            v = Add (x, f_lifted)
            b = Reshape (v, target) }""",
        *feeds,
    )
    assert found.remarks[0].reason == (
        "all iterations are computed at once, because 'e' is a seq(tensor(float)), which Loop does"
        " not support in opset 12"
    )


def test_without_the_younger_operators() -> None:
    """The second pipeline unrolls, in forms that are older."""
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x) => (float[M] b) <bool yes = {1}, int64 n = {2}> {
            e = SequenceEmpty ()
            s = Loop (n, yes, e) <
                body = b (int64 i, bool c, seq(float[2]) s0) => (bool c, seq(float[2]) s1) {
                    f = Cast <to = 1> (i)
                    v = Add (x, f)
                    s1 = SequenceInsert (s0, v) }>
            b = ConcatFromSequence <axis = 0> (s) }"""
    made, _ = straightened(text, 10, which=1)
    assert op_types(made) == ["Add", "Add", "Concat"]
    assert_equal_outputs(text, made, {"x": X})


def test_iterations_around_a_sequence_decide_its_positions() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[3] x) => (float[1] y) <int64 n = {3}, bool yes = {1}, float[1] zero = {0}> {
            y = Loop (n, yes, zero) <
                body = b (int64 i, bool c, float[1] s0) => (bool c, float[1] s1) {
                    one = Add (x, x)
                    q = SequenceConstruct (one, x)
                    two = Constant <value_int = 2> ()
                    at = Mod (i, two)
                    v = SequenceAt (q, at)
                    r = ReduceMax <keepdims = 1> (v)
                    u = Sin (s0)
                    s1 = Add (u, r) }> }"""
    made, found = straightened(text, 10)
    assert not {node.op_type for node in made.graph.node} & CONSTRUCTS
    assert_equal_outputs(text, made, {"x": np.array([1, 2, 3], np.float32)})
    assert (
        "Loop 'y': rewritten, unrolled, 3 iterations, because of what it holds:"
        " SequenceConstruct 'y/q'"
    ) in told(found)


def test_optionals() -> None:
    _, found = assert_straightens(
        """<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) {
            o = Optional (x)
            v = OptionalGetElement (o)
            y = Neg (v) }""",
        14,
        '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Neg (x) }',
        {"x": X},
    )
    assert {remark.op_type for remark in found.remarks} == {"Optional", "OptionalGetElement"}


def test_many_sequences_take_time_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is cut out alone: the nodes that are copied are as many as there are."""
    copied: list[Any] = []
    whole = subgraph_extraction.copy_node
    monkeypatch.setattr(
        subgraph_extraction, "copy_node", lambda *a, **k: (copied.append(a), whole(*a, **k))[1]
    )
    counts = []
    for count in (20, 40):
        body = "\n".join(
            f"s{i} = SequenceConstruct (x{i}, x{i})  a{i} = SequenceAt (s{i}, zero)"
            f" x{i + 1} = Sin (a{i})"
            for i in range(count)
        )
        copied.clear()
        made, _ = straightened(
            f"""<ir_version: 8, opset_import: ["": 17]>
            g (float[2] x0) => (float[2] x{count}) <int64 zero = {{0}}> {{ {body} }}""",
            10,
        )
        assert op_types(made) == ["Sin"] * count
        counts.append(len(copied))
    assert counts == [40, 80]


def test_an_identity_of_a_sequence() -> None:
    """Before opset 14 an Identity supports tensors only."""
    assert_straightens(
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x, float[2] y) => (float[2] b) <int64 one = {1}> {
            s = SequenceConstruct (x, y)
            t = Identity (s)
            a = SequenceAt (t, one)
            b = Neg (a) }""",
        13,
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x, float[2] y) => (float[2] b) { b = Neg (y) }""",
        {"x": X, "y": Y},
    )
    made, found = straightened(
        """<ir_version: 8, opset_import: ["": 17]> g (seq(float[2]) s, int64 k) => (float[2] b) {
            t = Identity (s)
            b = SequenceAt (t, k) }""",
        13,
    )
    assert op_types(made) == ["SequenceAt"]
    assert told(found)[0].startswith("Identity 't': rewritten, dissolved, because 's' is a seq(")
