import pytest
from onnx import TensorProto as T
from straightline.definitions import Definition, Signature, Unfit
from straightline.definitions.pattern import RuleError
from straightline.ir import Operator
from tables import table

BEFORE = """(floats x[n, 4], floats b, int64 i, const w) => (y, z) {
    y, z = a.Op <alpha = @alpha ? 2.0, beta = @beta ?, gamma = @gamma, mode = "m"> (x, b?, i?, w?)
}"""


def signature(elem_types=(T.FLOAT,), shapes=((3, 4),), outputs=(True,), op_type="Op", **attributes):
    op = Operator.make(op_type, "a", **{"gamma": 1, "mode": "m", **attributes})
    return Signature(op, elem_types, [*shapes, *[()] * 4][: len(elem_types)], outputs)


def test_attributes_get_their_defaults():
    case = Definition(BEFORE, "").case(signature())
    assert case.attributes == {"alpha": 2.0, "beta": None, "gamma": 1}
    case = Definition(BEFORE, "").case(signature(alpha=3.0, beta=[1, 2]))
    assert case.attributes == {"alpha": 3.0, "beta": (1, 2), "gamma": 1}


@table(
    (signature(elem_types=(None,)), "operand 'x' is absent"),
    (signature(elem_types=(T.INT64,)), "element type of 'x' is none"),
    (signature(elem_types=(0,)), "element type of 'x' is not known"),
    (signature(shapes=((4,),)), "'x' has another rank than 2"),
    (signature(shapes=(None,)), "rank of 'x' is not known"),
    (signature(shapes=((3, 5),)), "an axis of 'x' has another size than 4"),
    (signature(elem_types=(T.FLOAT, T.DOUBLE)), "'b' is of type double"),
    (signature(elem_types=(T.FLOAT, None, None, T.FLOAT)), "'w' is not a constant"),
    (signature(elem_types=(T.FLOAT,) + (None,) * 3 + (T.FLOAT,)), "4 operands at most"),
    (signature(outputs=(True, False, True)), "2 outputs at most"),
    (signature(other=1), "attribute 'other' is not in the definition"),
    (signature(mode="n"), "attribute 'mode' is not 'm'"),
    (signature(alpha=2), "attribute 'alpha' is of kind INT, not FLOAT"),
)
def test_other_nodes_are_unfit(other, why):
    with pytest.raises(Unfit, match=why):
        Definition(BEFORE, "").case(other)


def test_an_attribute_without_default_is_required():
    op = Operator.make("Op", "a", mode="m")
    with pytest.raises(Unfit, match="attribute 'gamma' is absent"):
        Definition(BEFORE, "").case(Signature(op, [T.FLOAT], [(3, 4)], [True]))


def test_a_graph_is_text_or_written_for_a_case():
    texts = "y = Neg (x)", "(x) => (r) { r = Neg (x) }", lambda case: "y = Neg (x)"
    for text, names in zip(texts, ({}, {"y": "r"}, {}), strict=True):
        definition = Definition(BEFORE, text)
        pattern, given = definition.graph(definition.case(signature()))
        assert pattern.operators() == {"Neg"} and given == names


def test_a_definition_has_one_node_before():
    with pytest.raises(RuleError, match="one node before"):
        _ = Definition("(x) => (y) { t = a.B (x) y = a.B (t) }", "").name
