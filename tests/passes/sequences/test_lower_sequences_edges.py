"""Sequences at the edges of what is decided: last and first positions, budgets, what fails."""

import numpy as np
import pytest
from harness import as_model, run_in_onnxruntime, run_passes
from loops import op_types
from straightline import reference, rewrite
from straightline.passes import EliminateDeadNodes, Pipeline
from straightline.passes.sequences.lower_sequences import LowerSequences
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
FEEDS = {name: np.array([k, -k], np.float32) for k, name in enumerate("abc", 1)}
SIGNATURE = "float[2] a, float[2] b, float[2] c"
THREE = "s = SequenceConstruct (a, b, c)"


def left(result):
    return [n.op_type for n in result.model.graph.node if "Sequence" in n.op_type]


def at(number):
    return f"p = Constant <value_int = {number}> ()"


@pytest.mark.parametrize("place", [None, -3, -1, 0, 2])
def test_any_element_may_be_erased(place):
    before, given = ("", "") if place is None else (at(place), ", p")
    text = f"""{HEAD} g ({SIGNATURE}) => (float[4] y) {{
        {THREE} {before} t = SequenceErase (s{given}) y = ConcatFromSequence <axis = 0> (t) }}"""
    result = run_passes(text, LowerSequences(), EliminateDeadNodes(), feeds=[FEEDS])
    assert left(result) == []
    kept = [
        FEEDS[name] for k, name in enumerate("abc") if k != (-1 if place is None else place) % 3
    ]
    np.testing.assert_array_equal(reference.run(result.model, FEEDS)[0], np.concatenate(kept))


@pytest.mark.parametrize("place", [-3, 0, 2])
def test_any_element_may_be_read(place):
    text = f"""{HEAD} g ({SIGNATURE}) => (float[2] y) {{
        {THREE} {at(place)} e = SequenceAt (s, p) y = Exp (e) }}"""
    result = run_passes(text, LowerSequences(), EliminateDeadNodes(), feeds=[FEEDS])
    assert left(result) == []


@pytest.mark.parametrize("place", [None, -3, 0, 3])
def test_elements_may_be_inserted_behind_the_last_one_too(place):
    before, given = ("", "") if place is None else (at(place), ", p")
    text = f"""{HEAD} g ({SIGNATURE}) => (float[8] y) {{
        {THREE} {before} d = Exp (a) t = SequenceInsert (s, d{given})
        y = ConcatFromSequence <axis = 0> (t) }}"""
    result = run_passes(text, LowerSequences(), EliminateDeadNodes(), feeds=[FEEDS])
    assert left(result) == []


@table(
    ("t = SequenceErase (s, p)", 3),
    ("t = SequenceErase (s, p)", -4),
    ("t = SequenceInsert (s, a, p)", 4),
    ("t = SequenceInsert (s, a, p)", -4),
    ("e = SequenceAt (s, p) t = SequenceConstruct (e)", 3),
    ("e = SequenceAt (s, p) t = SequenceConstruct (e)", -4),
)
def test_positions_outside_are_left_to_fail(edit, place):
    text = f"""{HEAD} g ({SIGNATURE}) => (float[N] y) {{
        {THREE} {at(place)} {edit} y = ConcatFromSequence <axis = 0> (t) }}"""
    result = run_passes(text, LowerSequences())
    assert any(f"position {place} is outside a sequence of 3" in r.reason for r in result.kept)


@pytest.mark.parametrize(("axis", "fits"), [(0, True), (-1, True), (1, False), (-2, False)])
def test_one_tensor_joined_along_an_axis_that_it_has(axis, fits):
    text = f"""{HEAD} g ({SIGNATURE}) => (float[N] y) {{
        s = SequenceConstruct (a) y = ConcatFromSequence <axis = {axis}> (s) }}"""
    reasons = [r.reason for r in Pipeline([LowerSequences()]).run(as_model(text)).kept]
    assert (f"axis {axis} is outside rank 1, so it fails at run time" in reasons) != fits


MAP = f"""{THREE} t = SequenceMap (s) <body = m (float[2] e) => (float[2] f) {{
    n = Neg (e) o = Exp (n) f = Abs (o) }}>"""


@pytest.mark.parametrize(("most", "lowered"), [(9, True), (8, False), (100, True), (0, False)])
def test_copies_of_a_mapped_body_have_a_budget(most, lowered):
    text = (
        f"{HEAD} g ({SIGNATURE}) => (float[6] y) {{ {MAP} y = ConcatFromSequence <axis = 0> (t) }}"
    )
    result = run_passes(text, LowerSequences(max_nodes=most), EliminateDeadNodes())
    assert ("SequenceMap" not in left(result)) == lowered
    if not lowered:
        reason = f"it would add 9 nodes to the 0 added so far, over max_nodes={most}"
        assert any(reason in r.reason for r in result.kept)


@pytest.mark.parametrize(("most", "first", "second"), [(18, True, True), (17, True, False)])
def test_a_budget_is_used_up(most, first, second):
    second_map = MAP.replace("t = ", "u = ").replace(THREE, "").replace("(s)", "(t)")
    text = f"""{HEAD} g ({SIGNATURE}) => (float[6] y) {{
        {MAP} {second_map} y = ConcatFromSequence <axis = 0> (u) }}"""
    passes = [LowerSequences(max_nodes=most), EliminateDeadNodes()]
    result = Pipeline(passes).run(as_model(text))
    assert left(result).count("SequenceMap") == [first, second].count(False)
    if not second:
        reason = "it would add 9 nodes to the 9 added so far, over max_nodes=17"
        assert any(reason in r.reason for r in result.kept)


@table(
    (THREE, "seq(float[2]) s", "sequence"), ("s = Optional (a)", "optional(float[2]) s", "optional")
)
def test_a_sequence_output_is_needed_whole(nodes, output, what):
    result = run_passes(f"{HEAD} g ({SIGNATURE}) => ({output}) {{ {nodes} }}", LowerSequences())
    assert [r.reason for r in result.kept] == [f"the graph returns its {what}"]


@table(("seq(float[2]) t", "f", True), ("t", "float[2] f", True), ("t", "f", False))
def test_a_map_over_nothing_needs_a_type_for_the_sequence(declared, body, lowered):
    text = f"""{HEAD} g (float[2] a) => (int64 y, z) <{declared if " " in declared else ""}> {{
        s = SequenceEmpty ()
        t = SequenceMap (s) <body = m (float[2] e) => ({body}) {{ f = Neg (e) }}>
        u = SequenceInsert (t, a) y = SequenceLength (u) z = Identity (t) }}"""
    result = Pipeline([LowerSequences()]).run(as_model(text))
    assert ("SequenceMap" not in left(result)) == lowered
    assert not any(r.op_type == "SequenceLength" for r in result.kept)


def test_an_element_of_strings_in_onnxruntime():
    """Its Gather copies the first string of a row alone."""
    text = f"""{HEAD} g (string[3] x, int64 n) => (string[3] y) {{ e = SequenceEmpty <dtype = 8> ()
        c = Constant <value = bool {{1}}> () s = Loop (n, c, e) <body = b (int64 i, bool c1,
            seq(string[3]) q) => (bool c2, seq(string[3]) o) {{ c2 = Identity (c1)
            o = SequenceInsert (q, x) }}> {at(0)} y = SequenceAt (s, p) }}"""
    model, x = rewrite(as_model(text)), np.array(["a", "b", "c"], object)
    assert "Loop" not in op_types(model.graph)
    (found,) = run_in_onnxruntime(model, {"x": x, "n": np.array(2)})
    np.testing.assert_array_equal(found, x)
