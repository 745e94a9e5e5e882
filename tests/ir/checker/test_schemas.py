from collections.abc import Sequence

import pytest
from onnx import AttributeProto, helper
from straightline.ir import ModelError
from straightline.ir.attributes import ANY
from straightline.ir.checker.schemas import Forms, SchemaForm
from straightline.ir.places import Place
from tables import table

HERE = Place("g")
INT, GRAPH, FLOAT = AttributeProto.INT, AttributeProto.GRAPH, AttributeProto.FLOAT
INTS = AttributeProto.INTS


def form(op_type: str, opset: int = 21) -> SchemaForm | None:
    node = helper.make_node(op_type, [], [], "n")
    return Forms(opset).of(op_type, HERE, node)


def fault(
    op_type: str,
    inputs: Sequence[str],
    outputs: Sequence[str] = ("y",),
    kinds: dict[str, int] | None = None,
    opset: int = 21,
) -> str:
    """What is said of a node; empty where it fits."""
    known = form(op_type, opset)
    assert known is not None
    try:
        known.check(HERE, helper.make_node(op_type, [], [], "n"), inputs, outputs, kinds or {})
    except ModelError as error:
        return str(error).removeprefix(f"{op_type} 'n' ")
    return ""


@table(
    ("Add", ["a"], ["y"], {}, "has 1 inputs; Add accepts 2 at opset 21"),
    ("Add", ["a", "b", "c"], ["y"], {}, "has 3 inputs; Add accepts 2 at opset 21"),
    ("Add", ["a", ""], ["y"], {}, "lacks its input 'B', which Add needs"),
    ("Add", ["a", "b"], [], {}, "has 0 outputs; Add has 1 at opset 21"),
    ("Add", ["a", "b"], [""], {}, "omits its output 0, which Add always has"),
    ("Clip", [], ["y"], {}, "has 0 inputs; Clip accepts 1 to 3 at opset 21"),
    ("Clip", list("abcd"), ["y"], {}, "has 4 inputs; Clip accepts at most 3 at opset 21"),
    ("Concat", [], ["y"], {"axis": INT}, "has 0 inputs; Concat accepts at least 1 at opset 21"),
    ("Concat", ["a"], ["y"], {}, "lacks its attribute 'axis'"),
    ("Concat", ["a"], ["y"], {"axis": FLOAT}, "has an attribute 'axis' of kind FLOAT, which"),
    ("If", ["c"], ["y"], {"then_branch": GRAPH}, "lacks its graph attribute 'else_branch'"),
)
def test_nodes_that_do_not_fit(
    op_type: str, inputs: list[str], outputs: list[str], kinds: dict[str, int], said: str
) -> None:
    assert fault(op_type, inputs, outputs, kinds).startswith(said)


@table(
    ("Add", ["a", "b"], ["y"], {"anything": INT}),
    ("Clip", ["a", "", "c"], ["y"], {}),
    ("Clip", ["a", "", "", ""], ["y"], {}),
    ("Concat", list("abcdef"), ["y"], {"axis": ANY}),
    ("Dropout", ["a"], ["y", ""], {}),
)
def test_nodes_that_fit(
    op_type: str, inputs: list[str], outputs: list[str], kinds: dict[str, int]
) -> None:
    assert fault(op_type, inputs, outputs, kinds) == ""


def test_attributes_of_other_opsets_have_their_kind_too() -> None:
    assert fault("Squeeze", ["a"], kinds={"axes": INT}).startswith("has an attribute 'axes'")
    assert fault("Squeeze", ["a"], kinds={"axes": INTS}) == ""


def test_opsets() -> None:
    assert fault("Clip", ["a", "b"], opset=6) == "has 2 inputs; Clip accepts 1 at opset 6"
    assert fault("Clip", ["a", "b"], opset=11) == ""
    assert form("Upsample", 10) is None, "deprecated"
    assert form("Gelu", 19) is None and form("Gelu", 20) is not None
    assert form("NotOfOnnx") is None
    with pytest.raises(ModelError, match="Scan 'n' exists from opset 8 on; the model imports 7"):
        form("Scan", 7)
