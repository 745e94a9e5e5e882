"""Nodes that make no sense are refused where a version says them by others: none is read as another
one that does, such as one with an axis counted round and round."""

import re

import pytest
from conversions import assert_refuses, model
from straightline import convert_version
from tables import table


def said_with_constants(nodes: str) -> str:
    """Nodes with Constant nodes in the place of lists in braces."""
    made = []
    for index, given in enumerate(re.findall(r"(?<=, )\{[^}]*\}", nodes)):
        kind = "float" if "." in given else "int64"
        name = f"k{index}"
        made.append(f"{name} = Constant <value = {kind}[{given.count(',') + 1}] {given}> ()")
        nodes = nodes.replace(given, name, 1)
    return " ".join([*made, nodes])


@table(
    # Nodes, opset before and after, inputs.
    ("y, i = TopK <axis = 3> (x, k)", 10, 9, "float[2, 3] x, int64[1] k"),
    ("y = GatherElements <axis = 3> (x, i)", 11, 10, "float[2, 3] x, int64[2, 3] i"),
    ("y = GatherElements <axis = -4> (x, i)", 11, 10, "float[N, 3] x, int64[2, 3] i"),
    ("y = Scatter <axis = 2> (x, {0}, u)", 9, 8, "float[2] x, float[1] u"),
    ('y = ScatterElements <axis = 2, reduction = "add"> (x, i, x)', 16, 15,
     "float[2] x, int64[2] i"),
    ("y = Softmax <axis = 1> (x)", 12, 13, "float[3] x"),
    ("y = Flatten <axis = 3> (x)", 9, 8, "int32[2, 3] x"),
    ("y, z = Split <axis = 2, num_outputs = 2> (x)", 18, 17, "float[4] x"),
    ("y = Slice (x, {0}, {1}, {2}, {2})", 10, 9, "float[2, 3] x"),
    ("y = Slice (x, {0}, {1}, {-4})", 11, 10, "float[2, 3] x"),
    ("y = Pad (x, {1, 1}, , {-3})", 18, 17, "float[2, 3] x"),
    ("y = CumSum (x, {5})", 11, 10, "float[2, 3] x"),
    ("y = LayerNormalization <axis = 4> (x, s)", 17, 16, "float[2, 3] x, float[3] s"))  # fmt: skip
def test_an_axis_that_is_not_there(nodes: str, source: int, target: int, signature: str) -> None:
    assert_refuses(said_with_constants(nodes), source, target, "input 0 has no axis", signature)


@pytest.mark.sample(22)
@table(
    # What is said, nodes, opset before and after, inputs.
    ("axis = -5 is out of range for 2 axes", "y = Concat <axis = -5> (x, x)", 11, 10,
     "float[2, 3] x"),
    ("axes = [-5] is out of range for 2", "y = Softmax <axis = -5> (x)", 13, 10, "float[2, 3] x"),
    ("'value' must be one number, not 2", "y = ConstantOfShape <value = float[2] {1, 2}> (n)", 9, 8,
     "int64[1] n"),
    ("must be one number, not 2", "y = CumSum (x, {0, 1})", 11, 10, "float[2, 3] x"),
    ("must be one number, not 2", "y = Trilu (x, {0, 1})", 14, 13, "float[2, 3] x"),
    ("must be one number, not 2", "y, m = Dropout (x, {0.5, 0.25})", 12, 11, "float[2, 3] x"),
    ("a depth of 6 is not made of blocks of 2 by 2",
     'y = DepthToSpace <blocksize = 2, mode = "CRD"> (x)', 11, 10, "float[1, 6, 2, 2] x"),
    ("'mode' = 'odd' does not exist", 'y = DepthToSpace <blocksize = 2, mode = "odd"> (x)', 11, 10,
     "float[1, 4, 2, 2] x"),
    ("its equation does not fit its inputs", 'y = Einsum <equation = "i->i"> (x)', 12, 11,
     "float[2, 3] x"),
    ("its equation does not fit its inputs", 'y = Einsum <equation = "ij,jk->ik"> (x)', 12, 11,
     "float[2, 3] x"),
    ("its equation does not fit its inputs", 'y = Einsum <equation = "ij->iz"> (x)', 12, 11,
     "float[2, 3] x"),
    ("its indices have another rank than its data", "y = GatherElements (x, i)", 11, 10,
     "float[2, 3] x, int64[2] i"),
    ("its indices have another rank than its data",
     'y = ScatterElements <reduction = "add"> (x, i, u)', 16, 15,
     "float[2, 3] x, int64[2] i, float[2] u"),
    ("batch_dims = 3 does not fit the ranks of its inputs", "y = GatherND <batch_dims = 3> (x, i)",
     12, 11, "float[2, 3] x, int64[2, 1] i"),
    ("its updates are not known to have the shape of its indices", "y = Scatter (x, {0}, u)", 9, 8,
     "float[3] x, float[2] u"),
    ("its indices have the shape [1], its data [2, 3]", "y = Scatter (x, {0}, u)", 9, 8,
     "float[2, 3] x, float[1] u"),
    ("4 channels are not 3 groups", "y = GroupNormalization <num_groups = 3> (x, s, s)", 18, 21,
     "float[1, 4, 2] x, float[3] s"),
    ("its result has no axis 4", "y = OneHot <axis = 4> (x, {3}, v)", 9, 8,
     "int64[2] x, float[2] v"),
    ("there are no -3 classes", "y = OneHot (x, {-3}, v)", 9, 8, "int64[2] x, float[2] v"),
    ("its pads are not two for each of its axes", "y = Pad (x, {1, 1, 1}, , {0})", 18, 17,
     "float[2, 3] x"),
    ("its pads are not two for each of 2 axes", "y = Pad (x, p)", 11, 10,
     "float[2, 3] x, int64[3] p"),
    ("its two axes are not the first two", "y = ReverseSequence <time_axis = 1> (x, {1, 2})", 10, 9,
     "float[2, 3] x"),
    ("its lengths are not one for each row, or longer than these",
     "y = ReverseSequence (x, {1, 2, 9})", 10, 9, "float[2, 3] x"),
    ("its scale is not one number", "y = DequantizeLinear (x, s, z)", 10, 9,
     "int8[2, 3] x, float[3] s, int8[3] z"),
    ("a tensor of shape [2, 3] does not broadcast to [3 2]", "y = Expand (x, {3, 2})", 8, 7,
     "float[2, 3] x"),
    ("an index of it is out of range", "y = GatherND (x, {5})", 11, 10, "float[3] x"),
    ("input 0 has no axis 7", "y = MeanVarianceNormalization <axes = [7]> (x)", 9, 8,
     "float[2, 3] x"),
    ("strings have neither a one nor a zero", "y = EyeLike <dtype = 8> (x)", 9, 8, "float[2, 2] x"),
    ("its bounds are not vectors", "y = Slice (x, a, a)", 10, 9, "float[3] x, int64 a"),
    ("its bounds are not as many as its axes or steps", "y = Slice (x, {0}, {1}, {0}, {1, 1})", 10,
     9, "float[3] x"),
    ("one of its steps is 0", "y = Slice (x, {0}, {1}, {0}, {0})", 10, 9, "float[3] x"),
    ("a length of 5 has no 2 equal parts", "y, z = Split (x)", 17, 18, "float[5] x"),
    ("num_outputs = 3 is not its number of outputs", "y, z = Split <num_outputs = 3> (x)", 18, 17,
     "float[6] x"),
    ("it names 3 of 2 axes", "y = Squeeze (x, a)", 13, 12, "float[1, 1] x, int64[3] a"),
    ("axes = [0, -2] has one twice", "y = Resize <axes = [0, -2]> (x, , , {4, 4})", 18, 17,
     "float[2, 3] x"),
    ("input 'sizes' is not one number for each of its axes",
     "y = Resize <axes = [0]> (x, , , {4, 4})", 18, 17, "float[2, 3] x"),
    ("one of its scales is not above zero, or is infinite", "y = Resize (x, , {1.0, -2.0})", 13, 10,
     "float[2, 3] x"),
    ("an output length is less than one", "y = Resize (x, , , {-1, 4})", 13, 10, "float[2, 3] x"),
    ("20000000 pixels are too many for a longer form",
     'y = Resize <mode = "cubic"> (x, , , {20000000})', 13, 10, "float[2] x"),
    ("there is no nearest_mode 'odd'", 'y = Resize <nearest_mode = "odd"> (x, , {2.0})', 13, 10,
     "float[2] x"),
    ("opset 19 has no mode 'linear'", 'y = GridSample <mode = "linear"> (x, g)', 16, 20,
     "float[1, 1, 2, 2] x, float[1, 2, 2, 2] g"),
    ("there is no mode 'bilinear', or no padding_mode 'odd'",
     'y = GridSample <padding_mode = "odd"> (x, g)', 16, 15,
     "float[1, 1, 2, 2] x, float[1, 2, 2, 2] g"),
    ("'x' is a tensor(string), which CumSum does not support in opset 11", "y = CumSum (x, {0})",
     11, 10, "string[3] x"))  # fmt: skip
def test_refused_models(said: str, nodes: str, source: int, target: int, signature: str) -> None:
    assert_refuses(said_with_constants(nodes), source, target, re.escape(said), signature)


def test_an_unchanged_node_may_be_senseless() -> None:
    """A step that changes nothing there carries it; whoever runs it refuses it as before."""
    proto = model("y = Transpose <perm = [0, 0]> (x)", 13, "float[2, 3] x")
    assert list(convert_version(proto, 9).graph.node[0].attribute[0].ints) == [0, 0]


def test_places_of_a_large_tensor_are_counted_at_run_time() -> None:
    """10000000000 places are too many for a constant."""
    signature = "bool[100000, 100000] c, float[100000, 100000] x"
    assert convert_version(model("y = Where (c, x, x)", 9, signature), 8).ByteSize() < 10_000
