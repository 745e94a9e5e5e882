import numpy as np
import pytest
from conversions import assert_refuses, converted, model
from straightline import ir
from straightline.analysis.constants.folding import Folder
from straightline.version_converter.constants import Constants
from straightline.version_converter.node_draft import NodeDraft
from straightline.version_converter.snippets import blank, is_float, length_of, pick
from straightline.version_converter.types import Types


def draft_of(signature):
    loaded = ir.load(model("y = Max (x, z)", 12, signature))
    (node,) = loaded.graph.nodes()
    types = Types(loaded)
    return NodeDraft(node, 12, 11, types, Constants(types, Folder(loaded)))


def test_floats_are_told_from_other_types():
    for type_, told in (("float", True), ("float16", True), ("int32", False), ("uint8", False)):
        assert is_float(draft_of(f"{type_}[2] x, {type_}[2] z")) is told
    reason = "Max before opset 12 needs the one element type of input 0, which is not known"
    assert_refuses("y = Max (x, z)", 12, 11, reason, "x, z")


def test_one_of_two_is_picked_where_it_passes_a_test():
    draft = draft_of("int32[2] x, int32[2] z")
    one, other = draft.inputs
    node = pick(draft, "Less", one, other).producer
    test = node.inputs[0].producer
    assert (node.op_type, node.inputs[1:]) == ("Where", (one, other))
    assert (test.op_type, test.inputs) == ("Less", (one, other))
    assert converted("y = Min (x, z)", 12, 11, "int32[2] x, int32[2] z")[0] == "Less (x, z)"


@pytest.mark.parametrize("rank", [0, 1])
def test_a_length_is_a_tensor_of_the_rank_that_is_asked_for(rank):
    draft = draft_of("int32[2, 3] x, int32[2, 3] z")
    value = length_of(draft, draft.emit("Shape", [draft.input(0)]), -1, rank)
    assert value.producer.inputs[1].constant.numpy().tolist() == ([-1] if rank else -1)
    assert draft.types.rank(value) == rank


def test_one_element_of_any_type():
    assert blank(np.dtype(np.float16)).tolist() == [0.0]
    assert blank(np.dtype(object)).tolist() == [""]
