import gc
import importlib
import itertools
import types

import numpy as np
import onnx
import pytest
import straightline as sl
from onnx import numpy_helper
from proofs import assert_open, assert_proved, is_proved
from straightline import ir
from straightline.runtimes.feeds import FeedError
from straightline.verification.proof import prove
from straightline.verification.proof.terms.budget import Budget
from tables import table

PROVING = importlib.import_module("straightline.verification.proof.prove")  # not the function

HEADER = '<ir_version: 8, opset_import: ["" : 17]>'
LOOP = """g (float[N] x) => (float[N] y, float[K,N] all) <int64 three = {3}> {
    y, all = Loop (three, , x)
        <body = b (int64 i, bool c, float[N] a) => (bool d, float[N] e, float[N] s) {
            d = Identity (c)
            e = Add (a, a)
            s = Identity (a) }> }"""
UNROLLED = """g (float[N] x) => (float[N] y, float[K,N] all) <int64[1] first = {0}> {
    a = Add (x, x)  b = Add (a, a)  y = Add (b, b)
    x0 = Unsqueeze (x, first)  a0 = Unsqueeze (a, first)  b0 = Unsqueeze (b, first)
    all = Concat <axis = 0> (x0, a0, b0) }"""

EXECUTION = "straightline.verification.proof.execution.symbolic_execution.Execution"


def model(text):
    return onnx.parser.parse_model(HEADER + text)


def test_a_loop_is_its_copies():
    proof = prove(model(LOOP), model(UNROLLED))
    assert proof, proof
    assert list(proof.outputs) == ["y", "all"]
    assert proof.seconds > 0 and proof.rules


@table(
    ("y = Add (b, b)", "y = Add (b, a)"),
    ("y = Add (b, b)", "y = Mul (b, b)"),
    ("(x0, a0, b0)", "(x0, b0, a0)"),
    ("(x0, a0, b0)", "(x0, a0)"),
)
def test_other_copies_are_not(old, new):
    proof = prove(model(LOOP), model(UNROLLED.replace(old, new)))
    assert proof.status == "open" and "output '" in proof.reason
    assert proof.first is not None


def test_every_kind_of_model_is_taken(tmp_path):
    onnx.save(model(LOOP), tmp_path / "m.onnx")
    after = ir.load(model(UNROLLED))
    for before in (tmp_path / "m.onnx", model(LOOP).SerializeToString(), ir.load(model(LOOP))):
        assert prove(before, after)


@pytest.mark.parametrize(("loop", "attempts"), [(False, 1), (True, 2)])
def test_only_loops_are_worth_a_second_attempt(monkeypatch, loop, attempts):
    """Without them all of the budget is for the first one."""
    count, attempt = [], PROVING._Question._attempt
    monkeypatch.setattr(PROVING._Question, "_attempt", lambda q: count.append(q) or attempt(q))
    chain = " ".join(f"v{i + 1} = Neg (v{i})" for i in range(30))
    body = (
        "b (int64 i, bool c, float[N] a) => (bool d, float[N] e) { d = Identity (c) e = Abs (a) }"
    )
    last = f"y = Loop (two, , v30) <body = {body}>" if loop else "y = Abs (v30)"
    text = f"g (float[N] v0) => (float[N] y) <int64 two = {{2}}> {{ {chain} {last} }}"
    assert prove(model(text), model(text), budget=Budget(steps=160))
    assert len(count) == attempts


def test_a_budget_that_is_spent_leaves_it_open():
    for budget, words in ((Budget(terms=3), "terms"), (Budget(steps=3), "steps")):
        proof = prove(model(LOOP), model(UNROLLED), budget=budget)
        assert proof.status == "open" and words in proof.reason


def weighted(text, weights):
    """A model with weights beside its other constants."""
    found = model(text)
    found.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    return found


def test_a_long_loop_is_compared_over_one_symbolic_iteration():
    weights = np.arange(1800, dtype=np.float32).reshape(600, 3)
    long = """g (float[600,3] x) => (float[600,3] y) <int64 n = {600}, bool t = {1}> {
        y = Loop (n, t) <body = b (int64 i, bool c) => (bool d, float[3] e) {
            d = Identity (c)  r = Gather (x, i)  p = Gather (w, i)  q = Squeeze (p)  e = Mul (r, q)
        }>
    }"""
    at_once = "g (float[600,3] x) => (float[600,3] y) { y = Mul (x, w) }"
    before, after = weighted(long, weights[:, None]), weighted(at_once, weights)
    proof = prove(before, after)
    assert proof, proof
    assert sum(proof.outputs.values()) < 50, "not a term for each of 600 iterations"
    weights[471, 0] += 1
    assert not prove(before, weighted(at_once, weights))


def test_a_long_loop_is_run_where_its_iterations_differ():
    """No rule knows the mask of a constant, so each iteration is compared by itself."""
    before = """g (float[100] x) => (float[100] y) <int64 n = {100}, int64 k = {7}, bool t = {1}> {
        y = Loop (n, t) <body = b (int64 i, bool c) => (bool d, float e) {
            d = Identity (c)  r = Gather (x, i)  m = Equal (i, k)  f = Neg (r)  e = Where (m, f, r)
        }>
    }"""
    after = "g (float[100] x) => (float[100] y) { f = Neg (x) y = Where (w, f, x) }"
    mask = np.arange(100) == 7
    assert prove(model(before), weighted(after, mask))
    mask[99] = True
    assert not prove(model(before), weighted(after, mask))


def test_a_long_loop_that_was_unrolled_is_run():
    before = """g (float[3] x) => (float[3] y) <int64 n = {200}> {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[3] a) => (bool d, float[3] e) {
            d = Identity (c)  e = Exp (a) }> }"""
    chain = model("g (float[3] x) => (float[3] y) { y = Exp (x) }")
    del chain.graph.node[:]
    names = ["x", *(f"v{k}" for k in range(199)), "y"]
    for one, other in itertools.pairwise(names):
        chain.graph.node.add(op_type="Exp", input=[one], output=[other])
    assert prove(model(before), chain)
    del chain.graph.node[100]
    chain.graph.node[100].input[0] = "v99"
    assert not prove(model(before), chain)


def test_depth_is_no_error():
    """Three thousand values, each made of the one before."""
    chain = onnx.parser.parse_model(HEADER + "g (float[2] x) => (float[2] y) { y = Neg (x) }")
    del chain.graph.node[:]
    names = ["x", *(f"v{k}" for k in range(2_999)), "y"]
    for one, other in itertools.pairwise(names):
        chain.graph.node.add(op_type="Neg", input=[one], output=[other])
    assert prove(chain, chain)
    other = onnx.ModelProto.FromString(chain.SerializeToString())
    other.graph.node[0].op_type = "Abs"
    assert not prove(chain, other)


def test_recursion_that_ends_nowhere_is_open(monkeypatch):
    def endless(*_):
        raise RecursionError

    monkeypatch.setattr(f"{EXECUTION}.run", endless)
    proof = prove(model(LOOP), model(UNROLLED))
    assert proof.status == "open" and "too deep" in proof.reason


def test_an_interrupt_is_not_swallowed(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"{EXECUTION}.run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        prove(model(LOOP), model(UNROLLED))


def test_signatures_that_differ_are_open():
    other = "g (double[N] x) => (double[N] y) { y = Abs (x) }"
    proof = prove(model("g (float[N] x) => (float[N] y) { y = Abs (x) }"), model(other))
    assert proof.status == "open"
    assert proof.reason == "the signatures differ: input 'x' was float[N], now double[N]"


def test_values_of_inputs_are_typed_like_them():
    before = model("g (float[2] x, float k) => (float[2] y) { y = Mul (x, k) }")
    after = model("g (float[2] x) => (float[2] y) <float k = {2}> { y = Mul (x, k) }")
    assert prove(before, after, bound={"k": np.float32(2)})
    assert not prove(before, after, bound={"k": np.float32(3)})
    assert not prove(before, after)
    with pytest.raises(FeedError, match="'k'"):
        prove(before, after, bound={"k": np.zeros(7, np.int8)})


class TestExternalData:
    @staticmethod
    def saved(folder, values, location):
        made = model("g (float[3] x) => (float[3] y) <float[3] w = {0, 0, 0}> { y = Add (x, w) }")
        made.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.float32(values), "w"))
        path = folder / f"{location}.onnx"
        onnx.save(made, path, save_as_external_data=True, size_threshold=0, location=location)
        return path

    def test_external_data_is_read_beside_the_model(self, tmp_path):
        one, two, three = (
            self.saved(tmp_path, values, name)
            for values, name in (([1, 2, 3], "a"), ([1, 2, 3], "b"), ([1, 2, 4], "c"))
        )
        assert prove(one, two)
        assert not prove(one, three)

    def test_in_a_folder_that_is_told(self, tmp_path):
        message = onnx.load(self.saved(tmp_path, [1, 2, 3], "a"), load_external_data=False)
        assert prove(message, message, base_dir=tmp_path)
        proof = prove(message, message)
        assert proof.status == "open" and "base_dir" in proof.reason

    def test_missing_data_leaves_the_proof_open(self, tmp_path):
        path = self.saved(tmp_path, [1, 2, 3], "a")
        (tmp_path / "a").unlink()
        proof = prove(path, path)
        assert proof.status == "open" and "'w'" in proof.reason


def test_sizes_that_may_wrap_are_no_numbers():
    """46341 squared is negative in 32 bits, 8000^5 in 64."""
    narrow = """g (float[N] x) => (int64[1] y) { s = Shape (x) t = Cast <to = 6> (s)
        u = Mul (t, t) y = Cast <to = 7> (u) }"""
    assert_open(narrow, "g (float[N] x) => (int64[1] y) { s = Shape (x) y = Mul (s, s) }")
    text = """g (float[N] x) => (bool[1] y) <int64[1] none = {0}, int64[1] one = {1}> { %s }"""
    power = """s = Shape (x) s2 = Mul (s, s) s4 = Mul (s2, s2) s5 = Mul (s4, s) t = Add (s5, one)
        y = Greater (t, none)"""
    assert_open(text % power, text % "y = Equal (one, one)")


def test_sizes_in_32_bits_are_assumed_to_be_small():
    text = "g (float[N] x) => (int64[1] y) <int32[1] one = {1}, int64[1] k = {1}> { %s }"
    narrow = "s = Shape (x) t = Cast <to = 6> (s) u = Add (t, one) y = Cast <to = 7> (u)"
    proof = assert_proved(text % narrow, text % "s = Shape (x) y = Add (s, k)")
    assert proof.assumptions == ("no size that is computed in 32 bits is 2^30 or more",)


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_a_sum_of_numbers_of_a_type_may_wrap(kind):
    """2^31 - 1 and 1 are no size: for it the second model returns -2^31."""
    text = f"g ({kind} d) => ({kind} y) <{kind} one = {{1}}, {kind} two = {{2}}> {{"
    one, other = (
        "z = Sub (d, d) y = Sub (two, z)",
        "m = Max (d, two) s = Add (m, one) y = Min (s, two)",
    )
    assert_open(f"{text} {one} }}", f"{text} {other} }}")


@pytest.mark.parametrize("text", ["y = Shape (t)", "u = Not (t) y = Shape (u)"])
def test_the_end_of_an_axis_in_32_bits_is_assumed_to_be_its_end(text):
    """bool[2147483648] takes 2 GB: such a Slice cuts its last element off."""
    signature = "g (bool[N] x) => (int64[1] y) <int64[1] zero = {0}, int64[1] end = {%d}> { %s }"
    whole = signature % (1, "y = Shape (x)")
    for end, assumed in ((1 << 31) - 1, True), ((1 << 47) - 1, True), (1 << 47, False):
        proof = assert_proved(signature % (end, f"t = Slice (x, zero, end) {text}"), whole)
        assert bool(proof.assumptions) == assumed
    assert_open(signature % ((1 << 31) - 2, f"t = Slice (x, zero, end) {text}"), whole)


def test_a_long_loop_that_differs_on_each_iteration_is_not_run_to_its_end():
    text = """g (float[3] x) => (float[3] y) <int64 n = {100000}, bool yes = {1}> {
        y = Loop (n, yes, x) <body = b (int64 i, bool c, float[3] v) => (bool d, float[3] w) {
            d = Identity (c) f = Cast <to = 1> (i) w = %s (v, f) }> }"""
    proof = prove(model(text % "Add"), model(text % "Mul"), budget=Budget(steps=100_000))
    assert proof.status == "open"
    assert "Add and, in the rewrite, Mul are not proved equal" in proof.reason
    assert proof.paths == ("Loop 'y' / body / Add 'w'", "Loop 'y' / body / Mul 'w'")


def test_a_brief_proof_gives_up_by_the_size_of_the_models():
    """Fifteen functions, each of which calls the one before twice, apply 2 ** 15 operators."""
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("f", 1)]
    exp = onnx.helper.make_node("Exp", ["x"], ["y"])
    functions = [onnx.helper.make_function("f", "f0", ["x"], ["y"], [exp], opsets)]
    for number in range(1, 16):
        calls = [
            onnx.helper.make_node(f"f{number - 1}", [source], [result], domain="f")
            for source, result in (("x", "a"), ("a", "y"))
        ]
        functions.append(onnx.helper.make_function("f", f"f{number}", ["x"], ["y"], calls, opsets))
    chain = model("g (float[2] x) => (float[2] y) { y = Neg (x) }")
    chain.graph.node[0].CopyFrom(onnx.helper.make_node("f15", ["x"], ["y"], domain="f"))
    chain.opset_import.append(opsets[1])
    chain.functions.extend(functions)
    assert is_proved(chain, chain, brief=True), "the same functions need no term"
    other = onnx.ModelProto()
    other.CopyFrom(chain)
    other.functions[0].node.add(op_type="Identity", input=["y"], output=["z"])
    other.functions[0].output[0] = "z"
    assert is_proved(chain, other, budget=Budget(steps=1_000_000))
    proof = prove(chain, other, brief=True)
    assert proof.status == "open" and "too many steps" in proof.reason


SCANNED = """g (float[n, 2] x, float[2] h) => (float[n, 2] y, float[2] last) {
    last, y = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e)
        => (float[2] t, float[2] o) { k = Add (s, e) t = Tanh (k) o = Identity (t) }> (h, x) }"""


def test_a_trip_count_of_an_input_is_none_in_one_case_and_more_in_another():
    """The rewrite pads an input without rows, for operators that refuse it."""
    padded_and_cut = """g (float[n, 2] x, float[2] h) => (float[n, 2] y, float[2] last)
        <int64[1] zero = {0}, int64[1] one = {1}> {
        shape = Shape (x) count = Gather (shape, zero) none = Equal (count, zero)
        more = Cast <to = 7> (none) widths = Concat <axis = 0> (zero, zero, more, zero)
        p = Pad (x, widths)
        end, rows = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e)
            => (float[2] t, float[2] o) { k = Add (s, e) t = Tanh (k) o = Identity (t) }> (h, p)
        y = Slice (rows, zero, count, zero) some = Cast <to = 9> (count)
        last = Where (some, end, h) }"""
    assert_proved(SCANNED, padded_and_cut)
    assert_open(SCANNED, padded_and_cut.replace("(some, end, h)", "(some, end, end)"))
    assert_open(SCANNED, padded_and_cut.replace("(some, end, h)", "(some, h, h)"))
    assert_open(SCANNED, padded_and_cut.replace("Equal (count, zero", "Equal (count, one"))


HOISTED = """g (float[n, 3] x) => (float[3] y)
        <int64 zero = {0}, bool t = {1}, float[3] z = {0, 0, 0}> {
    shape = Shape (x) iterations = Gather (shape, zero) %s
    y = Loop <body = b (int64 i, bool c, float[3] s) => (bool c2, float[3] s2) {
        c2 = Identity (c) %s s2 = Add (s, row) }> (iterations, t, z) }"""
ROW = "row = Gather (x, zero)"


def test_a_failure_without_iterations_is_a_condition():
    answer = assert_open(HOISTED % ("", ROW), HOISTED % (ROW, ""), "may fail")
    assert [condition.text for condition in answer.conditions] == ["n is 1 or more"]
    assert_proved(HOISTED % ("", ROW), HOISTED % ("", ROW))


def test_a_difference_in_every_case_has_no_condition():
    answer = assert_open(HOISTED % ("", ROW), HOISTED % ("", "row = Gather (x, i)"), weaker=True)
    assert not answer.conditions


def test_an_open_answer_tells_what_fails_in_a_weaker_notion():
    text = """g (float[N, 4] x, int64[2] s) => (float[N, 4] y) {{ {} }}"""
    before = text.format("a = Add (x, x) y = Sub (a, x)")
    after = text.format("r = Reshape (x, s) y = Identity (x)")
    reason = "not proved equal; over the reals: Reshape 'r' of the rewrite may fail"
    assert_open(before, after, reason)
    assert assert_open(before, text.format("y = Neg (x)"), weaker=True).reason.endswith(
        "proved equal"
    )


@pytest.fixture
def failing(monkeypatch):
    """A prover that fails at whatever it runs."""

    def fail(*_):
        raise KeyError("a fault")

    monkeypatch.setattr(f"{EXECUTION}.run", fail)
    return monkeypatch


def test_a_fault_of_the_prover_is_an_open_answer_and_a_warning(failing):
    with pytest.raises(KeyError):
        prove(model(LOOP), model(UNROLLED))
    failing.delenv("STRAIGHTLINE_FAULTS")
    with pytest.warns(sl.FaultWarning, match="internal error in the proof"):
        proof = prove(model(LOOP), model(UNROLLED))
    assert proof.status == "open" and proof.failed
    assert (
        proof.reason
        == "internal error in the proof; please report both models (KeyError: 'a fault')"
    )


def test_a_rewrite_survives_a_fault_of_the_prover(failing):
    failing.delenv("STRAIGHTLINE_FAULTS")
    with pytest.warns(sl.FaultWarning):
        result = sl.transform(model(LOOP))
    assert result.verdict.status == "equal" and not result.verdict.proved
    assert "Loop" not in {node.op_type for node in result.model.graph.node}
    with pytest.raises(sl.StrictError, match="internal error"), pytest.warns(sl.FaultWarning):
        sl.transform(model(LOOP), strict=True)


REFUSED = "g (float[2] x, float[3] z, bool c) => (float[2] y) {{ y = If (c) <then_branch = a ()"
REFUSED += " => (u) {{ u = Neg (x) }}, else_branch = b () => (v) {{ {} v = Abs (x) }}> }}"


def test_a_model_whose_operands_do_not_fit_is_not_equal_to_any():
    fine, wrong = REFUSED.format("w = Add (x, x)"), REFUSED.format("w = Add (x, z)")
    assert_proved(fine, fine)
    reason = "the original is not a valid model: onnx's shape inference refuses Add 'w': Incompat"
    for before in (wrong, wrong.replace("(x, z)", "(z, x)")):
        assert_open(before, fine, reason)
    assert_open(fine, wrong, "Add 'w'")


def test_an_open_proof_frees_its_terms_without_a_collection():
    """Two attempts and two cases fail, in each of which an error leads to its frames."""
    loop = """g (float[n, 2] x) => (float[2] y) <float[2] none = {0, 0}> {
        y = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t) {
            t = %s (s, e) }> (none, x) }"""
    pair = [model(loop % op) for op in ("Add", "Mul")]

    def frames():
        return sum(isinstance(each, types.FrameType) for each in gc.get_objects())

    gc.disable()
    try:
        before = frames()
        assert not prove(*pair).proved
        assert frames() <= before
    finally:
        gc.enable()
