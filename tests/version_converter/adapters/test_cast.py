from conversions import assert_refuses, assert_writes, converted
from tables import cases


def test_casts_to_a_type_that_is_not_known_are_refused():
    assert_refuses(
        "y = CastLike (x, z)", 15, 14, "the type to cast to is not known", "float[2] x, z"
    )
    assert converted("y = CastLike (x, z)", 15, 14, "float[2] x, int8 z") == ["Cast <to = 3> (x)"]


test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Cast <to = 1, saturate = 0> (x)", 19, 18, ["Cast <to = 1> (x)"], "float[2, 3] x"),
    ("y = CastLike <saturate = 0> (x, k)", 19, 18, ["CastLike (x, k)"], "float[2, 3] x, float k"),
    ('y = Cast <to = 1, round_mode = "up"> (x)', 24, 23, ["Cast <to = 1> (x)"], "float[2, 3] x"),
    ('y = CastLike <round_mode = "up"> (x, k)', 24, 23, ["CastLike (x, k)"],
     "float[2, 3] x, float k"))  # fmt: skip
