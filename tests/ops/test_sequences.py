import numpy as np
import onnx
from operator_facts import FLOAT, INT64, SHAPELESS, N, fact_of, make_node, number, shaped
from straightline.facts.fact import Fact, decided
from straightline.ops.outputs import with_counts
from tables import table

SEQUENCE = onnx.helper.make_sequence_type_proto(onnx.helper.make_tensor_type_proto(FLOAT, None))


def sequence(count=None):
    return Fact(other=SEQUENCE, count=count)


def counted(op_type, *inputs, **attributes):
    """How many elements the result is known to hold."""
    node = make_node(op_type, list(inputs), **attributes)
    (found,) = with_counts(node, [Fact() if one is None else one for one in inputs], [sequence()])
    assert found.other is SEQUENCE
    return found.count


def test_sequences_that_are_made_and_changed():
    assert counted("SequenceEmpty") == 0
    assert counted("SequenceConstruct", SHAPELESS, SHAPELESS) == 2
    for op_type, more in (("SequenceInsert", 1), ("SequenceErase", -1), ("SequenceMap", 0)):
        assert counted(op_type, sequence(3)) == 3 + more
        assert counted(op_type, sequence()) is None
    assert counted("Identity", sequence(3)) == 3
    assert counted("SequenceErase", sequence(0)) is None, "it fails when it runs"
    assert counted("Optional", sequence(3)) is None


def unknown(*shape):
    """Integers of a shape that is known only at run time."""
    return Fact(INT64, shaped(*shape).shape)


@table(
    (shaped(6, N), None, 0, 6),
    (shaped(6, N), None, 1, None),
    (shaped(N, 4), None, -1, 4),
    (shaped(N, 4), None, 2, None),
    (shaped(N, 4), None, -3, None),
    (SHAPELESS, None, 0, None),
    (shaped(6), number(2), 0, 3),
    (shaped(7), number(2), 0, 4),
    (shaped(0), number(2), 0, 0),
    (shaped(6), number(0), 0, None),
    (shaped(6), number(N), 0, None),
    (shaped(6), unknown(), 0, None),
    (SHAPELESS, number(2), 0, None),
    (SHAPELESS, unknown(5), 0, 5),
    (SHAPELESS, unknown(N), 0, None),
    (shaped(6), Fact(INT64), 0, None),
)
def test_parts_of_a_tensor(data, split, axis, count):
    assert counted("SplitToSequence", data, split, axis=axis) == count


def test_the_length_of_a_sequence_is_a_number():
    node = make_node("SequenceLength", [sequence(3)])
    (fact,) = with_counts(node, [sequence(3)], [Fact()])
    assert (fact.elem_type, fact.shape, decided(fact).tolist()) == (INT64, (), 3)
    left = [Fact(INT64, ())]
    assert with_counts(node, [sequence()], left) is left


def test_tensors_are_not_counted():
    given = fact_of(np.ones(3, np.int64))
    left = [given]
    assert with_counts(make_node("Identity", [given]), [given], left) is left
