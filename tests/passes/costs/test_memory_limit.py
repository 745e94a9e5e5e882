import pytest
from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes import BlockLoops, HoistInvariants, Pipeline, VectorizeLoops
from straightline.passes.costs.memory_limit import FormMemory, MemoryLimit
from tables import table

PAIRS = """g (float[N, D] x, float[M, D] w) => (float[N] y) <bool yes = {1}, int64 zero = {0}> {
    s = Shape (x) n = Gather (s, zero)
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float r) {
        c2 = Identity (c) e = Gather (x, i) d = Sub (w, e) r = ReduceMax <keepdims = 0> (d) }> }"""
SMALL = PAIRS.replace("float[M, D]", "float[1, D]")
KNOWN = PAIRS.replace("N, D", "4000, 64").replace("M, D", "4000, 64").replace("[N]", "[4000]")
COUNTED = PAIRS.replace("[M, D] w)", "[M, D] w, int64 n)").replace("n = Gather (s, zero)", "")
BLOCK = 1 << 20


def measured(text, *passes, most=1 << 30):
    """The memory of a model and of what passes make of it, and the limit."""
    models = ir.load(as_model(text)), ir.load(as_model(text))
    Pipeline(passes).apply(models[1])
    facts = [ShapeInference(model) for model in models]
    pairs = zip(models, facts, strict=True)
    before, after = (FormMemory.of(model, inference, BLOCK) for model, inference in pairs)
    return before, after, MemoryLimit.of(models[0], facts[0], most, BLOCK)


AT_ONCE = HoistInvariants(), VectorizeLoops(max_bytes=1 << 40)


@table(
    (PAIRS, AT_ONCE, False),
    (PAIRS, (HoistInvariants(), BlockLoops()), True),
    (SMALL, AT_ONCE, True),
    (COUNTED, AT_ONCE, False),
    (KNOWN, AT_ONCE, False),
    (KNOWN.replace("4000", "200"), AT_ONCE, True),
    ids=["all at once", "blocks", "rows", "iterations of an input", "known sizes",
     "small known sizes"],
)  # fmt: skip
def test_rewrites_within_the_limit(text, passes, allowed):
    before, after, limit = measured(text, *passes)
    assert limit.allows(before) and limit.allows(after) == allowed


def test_a_limit_for_known_sizes():
    _, after, limit = measured(KNOWN, *AT_ONCE, most=1 << 34)
    assert limit.allows(after)
    before, after, limit = measured(KNOWN, *AT_ONCE, most=1)
    assert limit.allows(before) and not limit.allows(after), "what the model takes is allowed"


@pytest.mark.parametrize("text", [PAIRS, KNOWN])
def test_no_limit(text):
    _, after, limit = measured(text, *AT_ONCE, most=0)
    assert limit.allows(after)


def test_the_message_of_the_limit():
    before, after, _ = measured(PAIRS, HoistInvariants(), BlockLoops())
    assert "D*M" in str(before) and "blocks" not in str(before)
    assert str(after).endswith("and blocks of 3.0 MB of memory")
