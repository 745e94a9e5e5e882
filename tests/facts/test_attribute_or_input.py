from operator_facts import BOOL, INDICES, M, N, elements_of, holding, make_node, number, shaped
from straightline.facts.attribute_or_input import listed, listed_numbers
from straightline.facts.fact import Fact
from tables import table


@table(
    ([shaped(2), holding(0, -1)], {}, [0, -1], [0, -1]),
    ([shaped(2)], {"axes": [0, -1]}, [0, -1], [0, -1]),
    ([shaped(2), holding(N, None, 2)], {}, [N, None, 2], None),
    ([shaped(2), holding(N + M)], {}, [N + M], None),
    ([shaped(2), holding()], {}, [], []),
    ([shaped(2)], {}, None, None),
    ([shaped(2), None], {}, None, None),
    ([shaped(2), INDICES], {}, None, None),
    ([shaped(2), number(3)], {}, [3], [3]),
    ([shaped(2), Fact(BOOL, None, elements_of([True]))], {}, [None], None),
)
def test_lists_of_numbers(facts, attributes, elements, numbers):
    node = make_node("Foo", facts, **attributes)
    read = [Fact() if one is None else one for one in facts]
    assert listed(node, read, "axes", 1) == elements
    assert listed_numbers(node, read, "axes", 1) == numbers
