import numpy as np
import pytest
from harness import run_passes
from onnx import TensorProto, helper, numpy_helper
from straightline.passes import EliminateDeadNodes, FoldConstants

RANDOM = np.random.default_rng(0)


def folded(nodes, tensors, large=False, names=("t",)):
    """Operators and bytes before and after folding, where the named values are read."""
    count = len(names)
    readers = [helper.make_node("MatMul", [n, "x"], [f"y{k}"]) for k, n in enumerate(names)]
    graph = helper.make_graph(
        [*nodes, *readers],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1])],
        [
            helper.make_tensor_value_info(f"y{k}", TensorProto.FLOAT, ["A", "B"])
            for k in range(count)
        ],
        [numpy_helper.from_array(array, name) for name, array in tensors.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    result = run_passes(model, FoldConstants(large=large), EliminateDeadNodes()).model
    kinds = " ".join(n.op_type for n in result.graph.node if n.op_type != "MatMul")
    return kinds, model.ByteSize(), result.ByteSize()


def weights(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def repeat(rows, name="t", source="w"):
    return helper.make_node("Expand", [source, f"n{rows}"], [name])


SIZES = {f"n{rows}": np.array([rows, 100]) for rows in (10, 100, 200)}


@pytest.mark.parametrize(("rows", "kinds"), [(10, ""), (100, ""), (200, "Expand")])
def test_a_result_up_to_the_room(rows, kinds):
    assert folded([repeat(rows)], {"w": weights(1, 100), **SIZES})[0] == kinds


def test_a_tenth_of_a_large_model_is_room_too():
    tensors = {"w": weights(1, 100), "other": weights(700, 400), **SIZES}
    assert folded([repeat(200)], tensors, names=["t", "other"])[0] == ""


def test_the_room_is_for_all_of_them():
    # two of 40 KB each exceed 64 KB, so neither is folded, in this run and in the next one
    nodes = [repeat(100, "a"), repeat(100, "b", "v")]
    tensors = {"w": weights(1, 100), "v": weights(1, 100), **SIZES}
    kinds, before, after = folded(nodes, tensors, names=["a", "b"])
    assert kinds == "Expand Expand" and after <= before


def test_a_small_result_of_large_ones_is_folded():
    nodes = [
        repeat(200),
        helper.make_node("Exp", ["t"], ["e"]),
        helper.make_node("ReduceMax", ["e"], ["s"], keepdims=1),
    ]
    kinds, _, after = folded(nodes, {"w": weights(1, 100), **SIZES}, names=["s"])
    assert kinds == "" and after < 1000


def test_a_folded_constant_makes_room():
    nodes = [helper.make_node("Slice", ["w", f"c{k}", f"c{k + 1}"], [f"s{k}"]) for k in range(3)]
    nodes.append(helper.make_node("Concat", ["s1", "s0", "s2"], ["v"], axis=0))
    tensors = {"w": weights(384, 128)} | {f"c{k}": np.array([128 * k]) for k in range(4)}
    kinds, before, after = folded(nodes, tensors, names=["v"])
    assert kinds == "" and after < before
    # another reader keeps the whole weight, which would be stored twice
    kinds, before, after = folded(nodes, tensors, names=["v", "w"])
    assert kinds == "Slice Slice Slice Concat" and after <= before


def test_large_weights_are_never_stored_twice():
    turn = helper.make_node("Transpose", ["w"], ["t"])
    tensors = {"w": weights(600, 600), "other": weights(4000, 1000)}
    assert folded([turn], tensors, large=True, names=["t", "w", "other"])[0] == "Transpose"
    assert folded([turn], {"w": weights(600, 600)}, large=True)[0] == ""


def test_many_small_ones_share_the_room():
    count = 200
    nodes = [helper.make_node("Expand", [f"w{k}", "n"], [f"t{k}"]) for k in range(count)]
    tensors = {f"w{k}": weights(1, 1) for k in range(count)} | {"n": np.array([240, 1])}
    _, before, after = folded(nodes, tensors, names=[f"t{k}" for k in range(count)])
    assert after - before < 1 << 16
