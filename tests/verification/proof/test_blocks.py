import importlib

import numpy as np
import onnx
import pytest
import straightline as sl
from proofs import is_proved, over_reals
from tables import table

PROVE = importlib.import_module("straightline.verification.proof.prove")
COPIES = 72
HEADER = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>'


def chain(block, weights="", shape="N, 4", more="", header=HEADER):
    """A chain of copies of a block, which computes `{y}` of `{x}` and has values of its own `{k}`.

    The 60th block may be another one.
    """
    texts = [block] * COPIES if isinstance(block, str) else [block[k == 59] for k in range(COPIES)]
    nodes = " ".join(
        text.format(x=f"v{k}", y=f"v{k + 1}", k=f"_{k}") for k, text in enumerate(texts)
    )
    text = f"g (float[{shape}] v0) => (float[A, B] v{COPIES}) {weights} {{ {nodes} {more} }}"
    return onnx.parser.parse_model(header + text)


@pytest.fixture
def compared(monkeypatch):
    """The pairs of models that are compared, with the blocks among them."""
    calls, original = [], PROVE.pairs_of

    def recorded(*arguments):
        pairs, accepts = original(*arguments)
        calls.append(list(pairs))
        return pairs, accepts

    monkeypatch.setattr(PROVE, "pairs_of", recorded)
    return calls


GELU = "{y} = com.microsoft.Gelu ({x})"
BY_DEFINITION = """s{k} = Mul ({x}, root) e{k} = Erf (s{k}) o{k} = Add (e{k}, one)
    h{k} = Mul ({x}, half) {y} = Mul (h{k}, o{k})"""
NUMBERS = "<float root = {0.70710677}, float one = {1}, float half = {0.5}>"


def test_the_blocks_of_a_lowered_operator_are_one_kind(compared):
    before, after = chain(GELU), chain(BY_DEFINITION, NUMBERS)
    proof = sl.prove(before, after, equality="reals", search=False)
    assert proof.proved and "com.microsoft::Gelu computes its definition" in str(proof)
    ((pair,), *_) = [pairs for pairs in compared if pairs]
    assert [[node.op_type for node in one.graph.node] for one in pair] == [
        ["Gelu"],
        ["Mul", "Erf", "Add", "Mul", "Mul"],
    ]
    assert [info.name for info in pair[1].graph.input] == ["i0"]


@table(
    ("{y} = Neg ({x})", "{y} = Neg ({x})", "", True),
    ("{y} = Add ({x}, w)", "{y} = Add (w, {x})", "<float[4] w = {1, 2, 3, 4}>", True),
    ("{y} = Sub ({x}, w)", "{y} = Sub (w, {x})", "<float[4] w = {1, 2, 3, 4}>", False),
    ("t{k} = Exp ({x}) {y} = Neg (t{k})", "s{k} = Exp ({x}) {y} = Neg (s{k})", "", True),
    ("t{k} = Neg ({x}) {y} = Neg (t{k})", "{y} = Identity ({x})", "", True),
    ("t{k} = Neg ({x}) {y} = Abs (t{k})", "{y} = Abs ({x})", "", True),
    ("{y} = Relu ({x})", "{y} = Max ({x}, z)", "<float z = {0}>", None),
    ("{y} = Relu ({x})", "{y} = Max ({x}, z)", "<float z = {1}>", False),
    # Random numbers are no function of their operands.
    ("{y} = RandomNormalLike ({x})", "{y} = RandomNormalLike ({x})", "", None),
    # Only where the rewrite fails: the rank is open, so that the axis may not exist.
    ("{y} = Identity ({x})", "t{k} = Squeeze ({x}, a) {y} = Unsqueeze (t{k}, a)",
     "<int64[1] a = {1}>", False),
)  # fmt: skip
def test_blocks_are_proved_as_the_models_are(before, after, weights, holds, monkeypatch):
    pair = chain(before, weights), chain(after, weights)
    by_blocks = is_proved(*pair, equality="values")
    monkeypatch.setattr(PROVE, "pairs_of", lambda *_: ((), False))
    assert by_blocks == is_proved(*pair, equality="values")
    assert holds is None or by_blocks is holds


@table(
    ("y = Mul (h{k}, o{k})", "y = Add (h{k}, o{k})"),
    ("o{k} = Add (e{k}, one)", "o{k} = Add (e{k}, half)"),
    ("s{k} = Mul ({x}, root)", "s{k} = Mul (v0, root)"),
    ("h{k} = Mul ({x}, half)", "h{k} = Mul (v{near}, half)"),
)
def test_one_block_that_differs_is_seen(one, other):
    wrong = BY_DEFINITION.replace(one.replace("y =", "{y} =", 1), other.replace("y =", "{y} =", 1))
    after = chain([BY_DEFINITION, wrong.replace("{near}", "58")], NUMBERS)
    assert not over_reals(chain(GELU), after)


def test_a_node_that_nothing_reads_may_fail():
    fails = "dead = Reshape (v0, seven)"
    weights = NUMBERS.replace(">", ", int64[1] seven = {7}>")
    after = chain(BY_DEFINITION, weights, more=fails)
    assert not over_reals(chain(GELU), after)


@table(
    # A swap may show in the bits of a NaN.
    ("u{k} = Add ({x}, w) {y} = BitCast <to = 1> (u{k})",
     "u{k} = Add (w, {x}) {y} = BitCast <to = 1> (u{k})", "<float[4] w = {1, 2, 3, 4}>", "values"),
    # A choice has a value where the branch that it does not take has none, a product has not.
    ("p{k} = Greater ({x}, w) l{k} = Log ({x}) {y} = Where (p{k}, l{k}, w)",
     "p{k} = Greater ({x}, w) l{k} = Log ({x}) c{k} = Cast <to = 1> (p{k}) {y} = Mul (l{k}, c{k})",
     "<float w = {0}>", "reals"),
    ("l{k} = Constant <value_float = -inf> () p{k} = Greater ({x}, w)"
     " {y} = Where (p{k}, {x}, l{k})",
     "l{k} = Constant <value_float = -inf> () p{k} = Greater ({x}, w) c{k} = Cast <to = 1> (p{k})"
     " a{k} = Mul ({x}, c{k}) d{k} = Sub (w, c{k}) b{k} = Mul (l{k}, d{k}) {y} = Add (a{k}, b{k})",
     "<float w = {1}>", "reals"),
)  # fmt: skip
def test_values_hidden_from_a_block(before, after, weights, notion):
    header = HEADER.replace("17", "26") if "BitCast" in before else HEADER
    pair = [chain(each, weights, header=header) for each in (before, after)]
    assert not is_proved(*pair, equality=notion)


def test_names_that_the_rewrite_swaps_are_no_shared_values():
    swap = "p{k} = Neg ({x}) q{k} = Abs ({x}) {y} = Sub (p{k}, q{k})"
    swapped = "q{k} = Neg ({x}) p{k} = Abs ({x}) {y} = Sub (q{k}, p{k})"
    other = "q{k} = Neg ({x}) p{k} = Abs ({x}) {y} = Sub (p{k}, q{k})"
    assert is_proved(chain(swap), chain(swapped))
    assert not is_proved(chain(swap), chain(other))


def test_values_in_another_order_end_in_a_comparison_of_all():
    """The original computes `t` before `u`, the rewrite `t` of `u`: no induction by names."""
    before = "t{k} = Neg ({x}) u{k} = Neg (t{k}) {y} = Add (t{k}, u{k})"
    after = "u{k} = Identity ({x}) t{k} = Neg (u{k}) {y} = Add (t{k}, u{k})"
    assert is_proved(chain(before), chain(after))
    wrong = "u{k} = Abs ({x}) t{k} = Neg (u{k}) {y} = Add (t{k}, u{k})"
    assert not is_proved(chain(before), chain(wrong))


def test_a_declared_size_is_no_fact(compared):
    """Both models declare sizes that a run may break, so that no block rests on them."""
    pair = chain(GELU), chain(BY_DEFINITION, NUMBERS)
    for model in pair:
        model.graph.value_info.add().CopyFrom(
            onnx.helper.make_tensor_value_info("v7", onnx.TensorProto.FLOAT, [2, 4])
        )
    assert over_reals(*pair)
    assert not any(compared)


def test_a_declared_size_of_an_output_is_no_fact():
    """The size that both declare for an output is false where N is not 3, and a block reads it."""
    pair = []
    for node in (f"Shape (v{COPIES})", "Identity (three)"):
        more = f"s = {node} last = Cast <to = 1> (s)"
        model = chain("{y} = Neg ({x})", "<int64[1] three = {3}>", shape="N", more=more)
        del model.graph.output[:]
        for name, size in ((f"v{COPIES}", 3), ("last", 1)):
            info = onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [size])
            model.graph.output.append(info)
        pair.append(model)
    assert not is_proved(*pair)


def test_weights_of_many_blocks_are_operands_of_one_kind(compared):
    before = chain("{y} = MatMul ({x}, w{k})")
    after = chain("n{k} = Neg ({x}) m{k} = MatMul (n{k}, w{k}) {y} = Neg (m{k})")
    random = np.random.default_rng(0)
    for k in range(COPIES):
        weight = random.normal(size=(4, 4)).astype(np.float32)
        for model in (before, after):
            model.graph.initializer.append(onnx.numpy_helper.from_array(weight, f"w_{k}"))
    assert over_reals(before, after)
    ((pair,), *_) = [pairs for pairs in compared if pairs]
    assert [info.name for info in pair[0].graph.input] == ["i0", "w0"]
    after.graph.initializer[60].raw_data = after.graph.initializer[59].raw_data
    assert not over_reals(before, after)


def test_few_copies_are_compared_as_a_whole(compared):
    few = chain(GELU), chain(BY_DEFINITION, NUMBERS)
    for model, nodes in zip(few, (4, 20), strict=True):
        del model.graph.node[nodes:]
        model.graph.output[0].name = "v4"
    assert over_reals(*few)
    assert not any(compared)


@pytest.mark.parametrize(("size", "has_blocks"), [(4, True), (64, False)])
def test_a_block_holds_no_large_constant(size, has_blocks, compared):
    """A weight that the rewrite alone has is part of its block, up to a size."""
    shape = f"N, {size}"
    before = chain("p{k} = MatMul ({x}, w) {y} = Add (p{k}, p{k})", shape=shape)
    after = chain("{y} = MatMul ({x}, v)", shape=shape)
    weight = np.random.default_rng(0).normal(size=(size, size)).astype(np.float32)
    for model, name, factor in ((before, "w", 1), (after, "v", 2)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(weight * factor, name))
    assert over_reals(before, after)
    assert any(compared) is has_blocks
