"""Sequences and optionals that an opset does not have: what is in them takes their place."""

from typing import Any

import numpy as np
import pytest
from harness import assert_equal_outputs, op_types
from straightened import X, Y, assert_straightens, straightened, told
from straightline.version_converter import subgraph_extraction
from straightline.version_converter.unblock import CONSTRUCTS


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
    """It takes tensors only before opset 14."""
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
