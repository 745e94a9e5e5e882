import pytest
from conversions import model
from harness import as_model
from straightline import ir
from straightline.analysis.conformance import Conformance
from straightline.ir import Operator
from tables import table


def last_fault(body, opset, signature="float[2, 3] x", edit=None):
    loaded = ir.load(model(body, opset, signature))
    node = loaded.graph.nodes()[-1]
    if edit is not None:
        edit(loaded.graph, node)
    return Conformance(loaded).fault(node)


def operator(op_type, **attributes):
    return lambda graph, node: graph.set_operator(node, Operator.make(op_type, **attributes))


@table(
    (None, None),
    (operator("Gelu"), "is not an operator of opset 13"),
    (operator("Relu", axis=1), "has an attribute 'axis'"),
    (operator("Cast"), "lacks its attribute 'to'"),
    (operator("Cast", to="7"), "has an attribute 'to' of kind"),
    (operator("Add"), "has 1 inputs; Add accepts 2"),
    (operator("And"), "has 1 inputs"),
    (operator("Not"), "does not support tensor(float) as 'X'"),
    (operator("NoSuchOperator"), None),
)
def test_the_first_fault_of_a_node(edit, fault):
    found = last_fault("y = Neg (x)", 13, edit=edit)
    assert (found is None) if fault is None else found is not None and fault in found


def test_calls_of_the_own_functions_conform():
    loaded = ir.load(
        as_model("""<ir_version: 8, opset_import: ["": 13, "my": 1]>
            g (float[2] x) => (float[2] y) { y = my.F (x) }
            <domain: "my", opset_import: ["": 13]> F (a) => (b) { b = Neg (a) }""")
    )
    assert Conformance(loaded).fault(loaded.graph.nodes()[0]) is None


@pytest.mark.parametrize(("value", "rank"), [("s = [1]", None), (" = 1", 0)])
def test_constants_have_the_rank_of_their_operand(value, rank):
    found = last_fault(f"a = Constant <value_int{value}> () y = Squeeze (x, a)", 13)
    assert found == (None if rank is None else f"reads a constant of rank {rank} as operand 1")
