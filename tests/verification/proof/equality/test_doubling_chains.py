import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model, op_types
from proofs import is_proved
from straightline.verification.proof import prove
from tables import table

LOOP = """g ({t}[N, 3] x, {t}[3] s) => ({t}[N, 3] y) {{
    last, y = Scan <num_scan_inputs = 1, body = step ({t}[3] a, {t}[3] e)
        => ({t}[3] r, {t}[3] q) {{ r = {kind} (a, e) q = Identity (r) }}> (s, x) }}"""
KINDS = [
    *(("Max", "float"), ("Min", "double"), ("Max", "int64"), ("Min", "int32"), ("Mul", "int64")),
    *(("Add", "uint8"), ("And", "bool"), ("Or", "bool")),
]


def loop(kind, t):
    return as_model(LOOP.format(kind=kind, t=t))


@pytest.mark.sample(6)
@pytest.mark.parametrize("passes", [None, "straighten{straight=false}", "raise-recurrences"])
@pytest.mark.parametrize(("kind", "t"), KINDS)
def test_the_result_of_the_pass_is_proved(kind, t, passes):
    before = loop(kind, t)
    after = sl.rewrite(before, passes, verify=False)
    types = op_types(after)
    is_counted = t == "bool"
    assert "Scan" not in types and ("Loop" in types) == (passes is not None and not is_counted)
    assert is_proved(before, after, equality="reals" if t in ("float", "double") else "bits")


def test_an_axis_is_taken_to_have_less_than_two_to_the_31st_rows():
    before = loop("Max", "int64")
    proof = prove(before, sl.rewrite(before, verify=False))
    assert any("2147483647" in text or "2^31" in text for text in proof.assumptions)


def _edit(model, change):
    """A copy of a model, changed."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    change(copy.graph)
    return copy


def _nodes(graph, op_type):
    return [node for node in graph.node if node.op_type == op_type]


def _skip(step):
    """Read the rows before a step in the place of its result."""

    def change(graph):
        node = _nodes(graph, "Max")[step]
        for user in graph.node:
            for index, name in enumerate(user.input):
                if name == node.output[0]:
                    user.input[index] = node.input[1]

    return change


def _other_operator(graph):
    _nodes(graph, "Max")[3].op_type = "Min"


def _other_distance(graph):
    distances = {t.name: t for t in graph.initializer}
    front = [n for n in _nodes(graph, "Slice") if "front" in n.output[0]][4]
    distances[front.input[2]].CopyFrom(
        onnx.numpy_helper.from_array(np.array([17], np.int64), front.input[2])
    )


def _other_front(graph):
    front = [n for n in _nodes(graph, "Slice") if "front" in n.output[0]][2]
    front.input[0] = _nodes(graph, "Concat")[0].output[0]


def _swapped_pieces(graph):
    joined = _nodes(graph, "Concat")[3]
    pieces = list(joined.input)[::-1]
    del joined.input[:]
    joined.input.extend(pieces)


@pytest.mark.sample(1)
@table(
    *(_skip(0), _skip(9), _skip(30)),
    *(_other_operator, _other_distance, _other_front, _swapped_pieces),
)
def test_near_misses_are_not_proved(change):
    before = loop("Max", "int64")
    assert not is_proved(before, _edit(sl.rewrite(before, verify=False), change))


@pytest.mark.parametrize(("kind", "number"), [("Mul", 0), ("Add", 1)])
def test_rows_in_front_must_be_neutral(kind, number):
    before = loop(kind, "int64")

    def change(graph):
        for tensor in graph.initializer:
            if tensor.name.startswith("same") or not tensor.dims:
                array = onnx.numpy_helper.to_array(tensor)
                if array.shape == () and array == (1 if kind == "Mul" else 0):
                    other = np.array(number, np.int64)
                    tensor.CopyFrom(onnx.numpy_helper.from_array(other, tensor.name))

    after = sl.rewrite(before, verify=False)
    assert is_proved(before, after) and not is_proved(before, _edit(after, change))


def _set(graph, node, place, *numbers):
    """Let a node read other numbers."""
    name = f"other_{node.output[0]}"
    like = next(t for t in graph.initializer if t.name == node.input[place])
    array = np.array(numbers, np.int64).reshape(list(like.dims))
    graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    node.input[place] = name


def _blocks(graph):
    return next(n for n in _nodes(graph, "Slice") if len(n.input) == 5)


@pytest.mark.sample(2)
@table(
    ("from another row", lambda graph: _set(graph, _blocks(graph), 1, 14)),
    ("up to the last block", lambda graph: _set(graph, _blocks(graph), 2, -1)),
    ("of another size", lambda graph: _set(graph, _blocks(graph), 4, 15)),
    ("another first row", lambda graph: _set(graph,
     next(n for n in _nodes(graph, "Slice") if n.output[0].startswith("first")), 2, 2)),
    ("rows by another number", lambda graph: _set(graph, _nodes(graph, "Div")[0], 1, 8)),
    ("numbers from 1", lambda graph: _set(graph, _nodes(graph, "Range")[0], 0, 1)),
    ("of steps", lambda graph: _blocks(graph).input.__setitem__(0,
     _nodes(graph, "Max")[2].output[0])))  # fmt: skip
def test_near_misses_of_blocks_are_not_proved(change, call):
    before = loop("Max", "int64")
    after = sl.rewrite(before, verify=False)
    assert is_proved(before, after)
    assert not is_proved(before, _edit(after, call))
