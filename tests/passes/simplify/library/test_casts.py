from simplified import operators
from tables import table


@table(("int8", 6, 1), ("int32", 3, 2), ("float", 1, 1))
def test_a_cast_that_loses_nothing(elem_type, between, left):
    text = f"{{ t = Cast <to = {between}> (x) y = Cast <to = 7> (t) }}"
    assert len(operators(text, f"({elem_type}[N] x) => (int64[N] y)")) == left
