import ast
from itertools import product

import pytest
from certificates import assert_derived, assert_none, of_text
from source_files import ROOT, sources
from straightline.verification.certificate_check import replayed
from straightline.verification.checker.rules import RULES
from straightline.verification.checker.terms import CertificateError
from tables import table

GATHER = "g (float[n] x, int64 i, int64 j) => (y) {{ y = Abs (x) {} }}"
IF = """g (float[n] x, int64 i, bool c) => (y) {{ {0} y = If (c) <
    then_branch = a () => (u) {{ {1} u = Abs (x) }},
    else_branch = b () => (v) {{ {2} v = Neg (x) }}> }}"""
NODE = "d = Gather (x, i)"


def test_a_dead_node_of_the_rewrite_needs_a_twin():
    assert_none(GATHER.format(""), GATHER.format("d = Gather (x, i)"), "'Gather' cannot fail")
    assert_none(GATHER.format("d = Gather (x, j)"), GATHER.format("d = Gather (x, i)"))
    assert_derived(GATHER.format("d = Gather (x, i)"), GATHER.format(""))
    copy = GATHER.format("k = Identity (i) d = Gather (x, k)")
    assert_derived(GATHER.format("d = Gather (x, i)"), copy, "identity", "total")


def test_a_twin_runs_at_least_as_often():
    assert_none(IF.format("", NODE, ""), IF.format(NODE, "", ""), "'Gather' cannot fail")
    assert_none(IF.format("", NODE, ""), IF.format("", "", NODE))
    assert_derived(IF.format(NODE, "", ""), IF.format("", NODE, ""))
    assert_derived(IF.format("", NODE, NODE), IF.format("", NODE, ""))


def test_a_branch_that_never_runs_may_fail():
    before = IF.format("", "", "").replace(", bool c) => (y) {", ") => (y) <bool c = {1}> {")
    after = IF.format("", "", NODE).replace(", bool c) => (y) {", ") => (y) <bool c = {1}> {")
    assert_derived(before, after)
    after = IF.format("", NODE, "").replace(", bool c) => (y) {", ") => (y) <bool c = {1}> {")
    assert_none(before, after, "'Gather' cannot fail")


def test_spellings_fail_alike_and_weaker_nodes_less():
    """Split 13 fails where a part would be smaller; that of opset 18 does not."""
    split = "g (float[n] x) => (a, b) {{ a, b = Split {} (x) }}"
    pair = split.format(""), split.format("<num_outputs = 2>")
    assert_derived(*pair, "equal-parts", opsets=(13, 18))
    assert_none(*pair[::-1], "'Split' cannot fail", opsets=(18, 13))


def test_sizes_that_a_body_declares_need_a_twin():
    text = """g (float[n] x, int64 t) => (y) {{ y = Loop (t, , x) <body = b
        (int64 i, bool c, float[n] a) => (bool d, float[{}] e) {{
        d = Identity (c) e = Abs (a) }}> }}"""
    assert_none(text.format("n"), text.format("3"), "declares of")
    assert_derived(text.format("3"), text.format("m"))
    text = text.replace("float[n] a", "float[{}] a").replace("float[{}] e", "float[n] e")
    assert_none(text.format("n"), text.format("3"), "declares of")


def replay(text="g (float[n] x) => (y) { i = Identity (x) y = Abs (i) }", opset=18):
    proto = of_text(text, opset)
    return replayed(proto, proto, {})


@table(
    ("(float[3, 2] x) => (y) { y = Slice <starts = [-3], ends = [9]> (x) }", 9),
    ("(float[3, 2] x) => (y) { y = Reshape <shape = [2, 3]> (x) }", 4),
    (
        """(float[4, 2] v, int64[r] s) => (y) { x = Reshape (v, s)
    y = Scan <num_scan_inputs = 1, scan_input_axes = [1], body = b (r) => (q) {
    q = Abs (r) }> (x) }""",
        18,
    ),
    (
        """(float[2, 2] x) => (y) <int64[1] z = {0}> { s = Shape (x) r = Gather (s, z)
    y = Tile (x, r) }""",
        18,
    ),
    (
        """(float[2] x) => (y) <int64[1] n = {3}, bool[1] b = {1}> { m = Mul (n, n)
    w = Expand (b, m) y = Where (w, n, n) c = Concat <axis = 0> (n, m) z = Where (w, c, c) }""",
        18,
    ),
)
def test_no_rule_raises(text, opset):
    """Parameters that are attributes, ranks that are unknown, operators that fail."""
    run = replay("g " + text, opset)
    for _ in range(2):
        for term, rule in product(range(len(run.terms.nodes)), RULES):
            derived = run.derive(rule, term)
            if derived is not None:
                run.accept(rule, term, derived)


@table(
    ([("no-such", 1)], "has no rule 'no-such'"),
    ([("identity", 99)], "no term 99"),
    ([("identity", -1)], "no term -1"),
    ([("identity", 2)], "does not apply to term 2"),
    ([("identity", 1), ("identity", 1)], "shows nothing new"),
)
def test_steps_that_are_refused(steps, reason):
    run = replay()
    with pytest.raises(CertificateError, match=reason):
        for step in steps:
            run.step(*step)


def test_a_step_makes_two_terms_equal():
    run = replay()
    assert run.step("identity", 1) == 0
    assert run.terms.find(0) == run.terms.find(1)
    run.require_all()


def test_the_checker_is_small_and_shares_nothing_with_passes_and_prover():
    """Lines but blank ones and comments; imports of the floor `ir`, and the reference's kernels."""
    files = [file for file in sources() if file.startswith("verification/checker/")]
    texts = [(ROOT / file).read_text(encoding="utf-8") for file in files]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    assert sum(bool(line) and not line.startswith("#") for line in lines) < 3457
    allowed = {(1, ""), (3, "ir"), (3, "reference")}
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.level:
                room = (node.module or "").split(".")[0] if node.level > 1 else ""
                assert (node.level, room) in allowed, ast.unparse(node)
            elif isinstance(node, ast.Import):
                assert not any(alias.name.startswith("straightline") for alias in node.names)
