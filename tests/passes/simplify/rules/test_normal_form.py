import pytest
from spelled import model
from straightline import ir
from straightline.passes.simplify.rules.normal_form import UNKNOWN, NormalForms, equal, insert_lists
from tables import table


def form(nodes, opset, signature="(float[2, 1] x, int64[1] v) => (float[2] y)"):
    graph = ir.load(model(nodes, opset, signature)).graph
    return NormalForms(opset).of(graph.nodes()[-1])


@table(
    ("y = Squeeze <axes = [1]> (x)", 12, (1,)),
    ("<int64[1] a = {1}> { y = Squeeze (x, a) }", 13, (1,)),
    ("y = Squeeze (x)", 13, None),
    ("y = Squeeze (x, v)", 13, UNKNOWN),
)
def test_lists_are_attributes(nodes, opset, axes):
    normal = form(nodes, opset)
    assert normal.attributes.get("axes") == axes and len(normal.inputs) == 1
    assert ("axes" in normal.unusual) == (axes is not None)


def test_defaults_are_filled_in_and_other_values_are_unusual():
    normal = form("y = ReduceSum <keepdims = 1, axes = [0]> (x)", 11)
    assert normal.attributes["keepdims"] == 1 and normal.unusual == {"axes"}
    assert form("y = ReduceSum <keepdims = 0> (x)", 11).unusual == {"keepdims"}


@pytest.mark.parametrize(("sizes", "is_unusual"), [("1, 2", False), ("0, 2", True)])
def test_allowzero_says_nothing_of_sizes_without_zeros(sizes, is_unusual):
    normal = form(f"<int64[2] s = {{{sizes}}}> {{ y = Reshape <allowzero = 1> (x, s) }}", 14)
    assert normal.attributes["allowzero"] == 1 and bool(normal.unusual) == is_unusual
    assert form("y = Reshape <allowzero = 1> (x, v)", 14).unusual == {"allowzero"}


def test_lists_go_back_to_their_places():
    attributes, inputs = {"pads": (0, 1), "mode": "edge"}, ["x", "v"]
    insert_lists("Pad", 13, attributes, inputs, lambda name, value: f"{name} {value}")
    assert inputs == ["x", "pads (0, 1)", "v"] and attributes == {"mode": "edge"}
    attributes, inputs = {"pads": (0, 1)}, ["x"]
    insert_lists("Pad", 9, attributes, inputs, lambda name, value: value)
    assert inputs == ["x"] and attributes == {"pads": (0, 1)}


def test_a_slice_without_steps_has_lists_as_attributes():
    normal = form("y = Slice <starts = [0], ends = [1]> (x)", 9)
    assert normal.attributes["ends"] == (1,) and len(normal.inputs) == 1
    attributes, inputs = {"starts": (0,), "ends": (1,), "axes": (0,), "steps": (1,)}, ["x"]
    insert_lists("Slice", 9, attributes, inputs, lambda name, value: value)
    assert inputs == ["x"] and attributes == {"starts": (0,), "ends": (1,), "axes": (0,)}


def test_floats_are_compared_in_single_precision_by_their_bits():
    assert equal(0.1, 0.10000000149011612) and not equal(0.0, -0.0) and not equal(1.0, "1")
