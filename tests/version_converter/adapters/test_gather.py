import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_carried_everywhere, assert_refuses
from tables import table

RNG = np.random.default_rng(0)


def test_tuples_become_indices_into_the_first_axes():
    assert_becomes("""11 to 10, float[2, 3, 4] x, int64[5, 2] i: y = GatherND (x, i) =>
        shape = Shape (x)
        height = Gather <axis = 0> (shape, 0)
        row = Gather <axis = 1> (i, 0)
        low = Less (row, 0)
        back = Add (row, height)
        rows = Where (low, back, row)
        width = Gather <axis = 0> (shape, 1)
        column = Gather <axis = 1> (i, 1)
        left = Less (column, 0)
        right = Add (column, width)
        columns = Where (left, right, column)
        start = Mul (rows, width)
        flat = Add (start, columns)
        all = Reshape (x, [-1, 4])
        y = Gather <axis = 0> (all, flat)""")


@pytest.mark.sample(8)
@pytest.mark.parametrize("sizes", ["3, 4, 5", "A, B, C"])
@pytest.mark.parametrize("shape", [(2, 1), (2, 2), (2, 3), (2, 2, 2), (3,)])
@pytest.mark.parametrize("kind", ["float", "bool"])
def test_numbers_of_gather_nd(sizes, shape, kind):
    x = RNG.integers(0, 2 if kind == "bool" else 99, (3, 4, 5))
    x = x.astype(np.float32 if kind == "float" else np.bool_)
    limits = np.array(x.shape)[: shape[-1]]
    indices = RNG.integers(-limits, limits, shape)
    signature = f"{kind}[{sizes}] x, int64[{', '.join(map(str, shape))}] i"
    assert_carried("y = GatherND (x, i)", 12, (10, 9), {"x": x, "i": indices}, signature)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_numbers_of_gather_elements(axis, kind):
    x = RNG.normal(size=(3, 4)).astype(np.float32)
    indices = RNG.integers(-3, 3, (2, 3)).astype(kind)
    body, signature = f"y = GatherElements <axis = {axis}> (x, i)", f"float[3, 4] x, {kind}[2, 3] i"
    assert_carried(body, 13, (10, 9), {"x": x, "i": indices}, signature)


@table(
    ("y = GatherND (x, i)", "float[3] x, int64[N, K] i", "length of the last axis of input 1"),
    ("y = GatherND (x, i)", "float[3] x, int64[2, 0] i", "tuples of length 0"),
    ("y = GatherElements (x, i)", "x, int64[N] i", "a GatherElements needs the rank of input 0"),
    ("y = GatherND (x, i)", "float[3] x, i", "axis of input 1, which is not"),
    ("y = GatherND <batch_dims = 1> (x, i)", "float[N, 3] x, int64[N, 1] i",
     "'batch_dims' = 1 .*another form: places in the batch need its lengths"))  # fmt: skip
def test_unknown_facts_are_refused(body, signature, reason):
    assert_refuses(body, 12, 10, reason, signature)


def test_the_place_in_the_batch_is_said_below_opset_12():
    assert_becomes("""12 to 11, float[2, 3] x, int64[2, 4, 1] i:
        y = GatherND <batch_dims = 1> (x, i) =>
        shape = Shape (i)
        kept = Slice (shape, [0], [-1])
        full = Concat <axis = 0> (kept, [1])
        batch = Expand ([[[0]], [[1]]], full)
        tuples = Concat <axis = 2> (batch, i)
        y = GatherND (x, tuples)""")


@table(
    ((2, 3), (2, 1), 1), ((2, 3), (2, 4, 1), 1), ((2, 3, 4), (2, 3, 1), 2), ((2, 3, 4), (2, 2), 1)
)
def test_numbers_of_batches(sizes, shape, count):
    x = RNG.normal(size=sizes).astype(np.float32)
    limits = np.array(sizes[count : count + shape[-1]])
    feeds = {"x": x, "i": RNG.integers(-limits, limits, shape)}
    names = [", ".join(map(str, dims)) for dims in (sizes, shape)]
    signature = f"float[{names[0]}] x, int64[{names[1]}] i"
    assert_carried(f"y = GatherND <batch_dims = {count}> (x, i)", 13, (11, 10, 9), feeds, signature)


@pytest.mark.sample(3)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(3, 4, 2), (2, 4, 0), (0, 2, 2)])
def test_elements_of_lengths_from_run_time(axis, shape):
    x = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    length = x.shape[axis]
    feeds = {"x": x, "i": np.resize(np.arange(-length, length), shape)}
    body = f"y = GatherElements <axis = {axis}> (x, i)"
    for signature in ("float[A, B, C] x, int64[D, E, F] i", "float[3, 4, 2] x, int64[D, E, F] i"):
        assert_carried_everywhere(body, 11, (10, 9), feeds, signature)


def test_elements_of_lengths_from_run_time_stand_where_their_axes_say():
    assert_becomes("""11 to 10, float[M, N] x, int64[K, N] i:
        y = GatherElements <axis = 0> (x, i) =>
        shape = Shape (x)
        taken = Shape (i)
        columns = Gather <axis = 0> (shape, 1)
        count = Gather <axis = 0> (taken, [1])
        ones = ConstantOfShape <value = [1]> (count)
        places = NonZero (ones)
        column = Reshape (places, [-1])
        rows = Gather <axis = 0> (shape, 0)
        negative = Less (i, 0)
        wrapped = Add (i, rows)
        index = Where (negative, wrapped, i)
        scaled = Mul (index, columns)
        flat = Add (column, scaled)
        all = Reshape (x, [-1])
        y = Gather <axis = 0> (all, flat)""")
