import numpy as np
from conversions import assert_becomes, assert_carried, assert_carried_everywhere, assert_refuses


def test_both_tensors_are_laid_end_to_end():
    assert_becomes("""9 to 8, bool[2] c, float[2] x, float[2] z: y = Where (c, x, z) =>
        second = Not (c)
        number = Cast <to = 7> (second)
        offset = Mul (number, 2)
        places = Add (offset, [0, 1])
        both = Concat <axis = 0> (x, z)
        y = Gather <axis = 0> (both, places)""")
    assert_becomes("""9 to 8, bool[2] c, float[2, 2] x, float z: y = Where (c, x, z) =>
        second = Not (c)
        number = Cast <to = 7> (second)
        offset = Mul (number, 4)
        places = Add (offset, [[0, 1], [2, 3]])
        full_z = Expand (z, [2, 2])
        flat_x = Reshape (x, [-1])
        flat_z = Reshape (full_z, [-1])
        both = Concat <axis = 0> (flat_x, flat_z)
        y = Gather <axis = 0> (both, places)""")


def test_a_choice_that_is_known_is_made_at_once():
    assert_becomes("""9 to 8, float[2] x, float[2] z:
        c = Constant <value = bool[2] {1, 0}> () y = Where (c, x, z) =>
        both = Concat <axis = 0> (x, z)
        y = Gather <axis = 0> (both, [0, 3])""")


def test_unknown_shapes_are_found_at_run_time():
    special = np.array([[np.nan, np.inf, -0.0], [1, -np.inf, 2]], np.float32)
    feeds = {"c": np.array([[True], [False]]), "x": special, "z": special[0, ::-1].copy()}
    signature = "bool[M, 1] c, float[M, N] x, float[N] z"
    assert_carried_everywhere("y = Where (c, x, z)", 9, (8, 7), feeds, signature)
    texts = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    feeds = {"c": feeds["c"], "x": texts, "z": texts[0, ::-1].copy()}
    assert_carried_everywhere(
        "y = Where (c, x, z)", 9, (8, 7), feeds, signature.replace("float", "string"), ("graph",)
    )
    for shape in ((0, 3), (2, 0), (0, 0)):
        size = ", ".join(map(str, shape))
        x = np.zeros(shape, np.int64)
        feeds = {"c": np.ones((1, shape[1]), bool), "x": x, "z": x}
        for sizes in ("M, N", size):
            signature = f"bool[1, {sizes.split()[1]}] c, int64[{sizes}] x, int64[{sizes}] z"
            assert_carried_everywhere("y = Where (c, x, z)", 9, (8,), feeds, signature, ("graph",))


def test_unknown_ranks_are_refused():
    reason = "needs the shape of its output, which is not known before run time; fix the shapes of"
    reason += " inputs with --shape.*another form: places need the ranks of all inputs"
    assert_refuses("y = Where (c, x, x)", 9, 8, reason, "bool[2] c, float[] x")


def test_choices_are_gathered_in_opset_8():
    c = np.array([[True], [False]])
    for type_, dtype in (("float", np.float32), ("int32", np.int32), ("bool", np.bool_)):
        x, z = np.arange(3).astype(dtype), np.arange(6, 12).reshape(2, 3).astype(dtype)
        signature = f"bool[2, 1] c, {type_}[3] x, {type_}[2, 3] z"
        assert_carried("y = Where (c, x, z)", 9, (8,), {"c": c, "x": x, "z": z}, signature)
