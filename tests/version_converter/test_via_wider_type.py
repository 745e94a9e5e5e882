from conversions import assert_becomes, assert_refuses, converted
from tables import table

TYPES = {"int8": 3, "uint8": 2, "int16": 5, "uint16": 4, "int32": 6, "uint32": 12, "bool": 9}


@table(
    ("TopK <axis = 0> (x, k)", 11, 11, "int8 uint8 int16 uint16 int32 uint32"),
    ("MaxPool <kernel_shape = [2]> (x)", 12, 1, "int8 uint8"),
    ("ReduceMax (x)", 12, 6, "int8 uint8"),
    ("ReduceMin (x)", 12, 6, "int8 uint8"),
    ("ReduceMax (x)", 20, 2, "bool"),
    ("ReduceMin (x)", 20, 2, "bool"),
    ("Pad (x, [1, 1])", 11, 11, "int8 uint8 int16 uint16 int32 uint32"),
)
def test_selections_of_integers_by_way_of_another_type(node, source, via, types):
    pads = "p = Constant <value_ints = [1, 1]> () " if "Pad" in node else ""
    outputs = "y, i" if "TopK" in node else "y"
    shape = "[1, 1, 4]" if "Pool" in node else "[4]"
    body = f"{pads}{outputs} = {node.replace('[1, 1]', 'p')}"
    for type_ in types.split():
        found = converted(body, source, source - 1, f"{type_}{shape} x, int64[1] k")
        assert found[0] == f"Cast <to = {via}> (x)"
        assert "y_cast" in found[1] and found[1].split()[0] == node.split()[0]
        assert found[2] == f"Cast <to = {TYPES[type_]}> (y_in_0)"
        assert len(found) == 3


def test_no_detour_goes_up_or_for_other_types():
    assert converted("y = MaxPool <kernel_shape = [2]> (x)", 11, 12, "float[1, 1, 4] x") == [
        "MaxPool <kernel_shape = [2]> (x)"
    ]
    reason = "is a tensor.int16., which MaxPool does not support in opset 11"
    assert_refuses("y = MaxPool <kernel_shape = [2]> (x)", 12, 11, reason, "int16[1, 1, 4] x")


def test_constants_are_cast_at_once():
    pads = "p = Constant <value_ints = [1, 1]> ()"
    body = f"{pads} v = Constant <value = int32 {{7}}> () y = Pad (x, p, v)"
    assert_becomes(f"""12 to 10, int32[2] x: {body} =>
        doubles = Cast <to = 11> (x)
        padded = Pad <pads = [1, 1], value = 7.0> (doubles)
        y = Cast <to = 6> (padded)""")
