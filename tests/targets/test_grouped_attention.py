import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model
from kernels import assert_equal, run_kernel
from tables import table

ROOT = 8**-0.5
FLAT = """qS = Reshape (q, qShape)  qH = Transpose <perm = [0, 2, 1, 3]> (qS)
    kS = Reshape (k, kShape)  kH = Transpose <perm = [0, 2, 1, 3]> (kS)
    vS = Reshape (v, kShape)  vH = Transpose <perm = [0, 2, 1, 3]> (vS)"""
CACHE = "ks = Concat <axis = 2> (pastK, kH)  vs = Concat <axis = -2> (pastV, vH)"
REPEAT = """kU = Unsqueeze (ks, two)  kE = Expand (kU, wide)  kR = Reshape (kE, heads)
    vU = Unsqueeze (vs, two)  vE = Expand (vU, wide)  vR = Reshape (vE, heads)"""
ALONE = "kR = Identity (ks)  vR = Identity (vs)"
SCORES = f"""kT = Transpose <perm = [0, 1, 3, 2]> (kR)  s = MatMul (qH, kT)
    factor = Constant <value_float = {ROOT}> ()  scaled = Mul (s, factor)"""
BOTH_SCALED = f"""factor = Constant <value_float = {ROOT**0.5}> ()  qF = Mul (qH, factor)
    kT = Transpose <perm = [0, 1, 3, 2]> (kR)  kF = Mul (kT, factor)  scaled = MatMul (qF, kF)"""
MASKED, PLAIN = "m = Add (scaled, mask)  p = Softmax <axis = -1> (m)", "p = Softmax (scaled)"
GUARDED = f"{MASKED}  isNone = IsNaN (p)  zero = Constant <value_float = 0.0> ()"
GUARD = "w = Where (isNone, zero, p)  o = MatMul (w, vR)"
JOIN = "t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joined)"


def decoder(nodes, tokens=3, past=5, groups=2, size=8, rank=3, mask=None):
    """A model of four heads of queries; a mask that is given is a constant."""
    total, width = (tokens + past if isinstance(past, int) else "T"), 4 * size
    head = f"float[1,{groups},{total},{size}]"
    inputs = [f"float[1,{tokens},{width}] q"]
    inputs += [f"float[1,{tokens},{groups * size}] {name}" for name in "kv"]
    inputs += [f"float[1,{groups},{past},{size}] past{name}" for name in "KV"]
    sizes = {"qShape": (0, 0, 4, size), "kShape": (0, 0, groups, size), "two": (2,)}
    sizes |= {"wide": (1, groups, 4 // groups, -1, size), "heads": (1, 4, -1, size)}
    sizes["joined"] = (1, tokens, width) if rank == 3 else (tokens, width)
    if isinstance(total, int):
        sizes["wide"] = (*sizes["wide"][:3], total, size)
    constants = [
        f"int64[{len(each)}] {name} = {{{', '.join(map(str, each))}}}"
        for name, each in sizes.items()
    ]
    if mask is None:
        inputs.append(f"float[1,1,{tokens},{total}] mask")
    else:
        constants.append(f"float[1,1,{tokens},{total}] mask")
    result = f"float[1,{tokens},{width}]" if rank == 3 else f"float[{tokens},{width}]"
    model = as_model(f"""g ({", ".join(inputs)}) => ({result} y, {head} ks, {head} vs)
        <{", ".join(constants)}> {{ {nodes} }}""")
    if mask is not None:
        model.graph.initializer.append(onnx.numpy_helper.from_array(mask, "mask"))
    return model


def text(*parts):
    return " ".join([FLAT, CACHE, *parts])


def draw(model):
    rng = np.random.default_rng(0)
    shapes = {
        info.name: [dim.dim_value or 5 for dim in info.type.tensor_type.shape.dim]
        for info in model.graph.input
    }
    return {name: rng.standard_normal(s).astype(np.float32) for name, s in shapes.items()}


def raised(model, target="onnxruntime"):
    result = sl.transform(model, target=target)
    return result, [node.op_type for node in result.model.graph.node if node.domain]


PRODUCT = "o = MatMul (p, vR)"
CAUSAL = np.where(np.tri(3, 8, 5) > 0, 0, -np.inf).astype(np.float32)[None, None]
EMPTY = np.full_like(CAUSAL, -np.inf)


@table(
    (decoder(text(REPEAT, SCORES, MASKED, PRODUCT, JOIN)),),
    (decoder(text(REPEAT, BOTH_SCALED, MASKED, PRODUCT, JOIN)),),
    (decoder(text(REPEAT, SCORES, PLAIN, PRODUCT, JOIN), tokens=1),),
    (decoder(text(REPEAT, SCORES, MASKED, PRODUCT, JOIN), tokens=1),),
    (decoder(text(ALONE, SCORES, MASKED, PRODUCT, JOIN), groups=4),),
    (decoder(text(REPEAT, SCORES, MASKED, PRODUCT, JOIN), rank=2),),
    (decoder(text(REPEAT, SCORES, GUARDED, GUARD, JOIN), mask=CAUSAL),),
    (decoder(text(REPEAT, SCORES, MASKED, PRODUCT, JOIN), past=1),),
)
def test_attention_to_a_cache_is_one_node_and_proved(model):
    result, operators = raised(model)
    assert operators == ["GroupQueryAttention"] and result.verdict.proved
    (node,) = [node for node in result.model.graph.node if node.domain]
    assert list(node.output)[1:] == ["ks", "vs"]  # without them the kernel reads memory (1.32)
    feeds = draw(model)
    assert_equal(run_kernel(model, feeds), run_kernel(result.model, feeds), 10)


@table(
    (decoder(text(REPEAT, SCORES, MASKED, PRODUCT, JOIN), past="P"),),  # may be empty
    (decoder(text(REPEAT, SCORES, MASKED, PRODUCT, JOIN), size=4),),  # the kernel refuses it
    (decoder(text(REPEAT, SCORES, GUARDED, GUARD, JOIN)),),  # a row may be masked whole
    (decoder(text(REPEAT, SCORES, GUARDED, GUARD, JOIN), mask=EMPTY),),
)
def test_other_attention_has_no_such_node(model):
    _, operators = raised(model)
    assert "GroupQueryAttention" not in operators


@pytest.mark.parametrize("target", ["onnx", "tensorrt"])
def test_other_targets_get_no_such_node(target):
    model = decoder(text(REPEAT, SCORES, MASKED, PRODUCT, JOIN))
    assert not raised(model, target)[1]
