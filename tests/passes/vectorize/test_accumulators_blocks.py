import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, op_types, run_in_onnxruntime
from sessions import by_reference
from straightline import reference, transform

LOOP = """<ir_version: 8, opset_import: ["" : {opset}]>
g (float[T, 4] x, int64[T] n) => (float[{result}] y)
        <int64[1] a = {{0}}, int64[1] b = {{1}}, int64[1] four = {{4}}, float[{first}] h0,
        bool yes = {{1}}, int64 zero = {{0}}, int64 one = {{1}}> {{
    sizes = Shape (x) trips = Gather (sizes, zero)
    y = Loop (trips, yes, h0) <body = l (int64 i, bool c, float[{result}] s)
            => (bool c2, float[{result}] t) {{
        c2 = Identity (c) row = Gather (x, i) m = Gather (n, i) m1 = Unsqueeze (m, a)
        size = Concat <axis = 0> (m1, four) {body} }}> }}"""
BLOCK = "r = Expand (row, size)"
JOINED = {
    "Expand": f"{BLOCK} t = Concat <axis = 0> (s, r)",
    "Tile": "u = Unsqueeze (row, a) k = Concat <axis = 0> (m1, b) r = Tile (u, k)"
    " t = Concat <axis = 0> (s, r)",
    "in front": f"{BLOCK} t = Concat <axis = 0> (r, s)",
    "of what nodes compute": "w = Tanh (row) r = Expand (w, size) t = Concat <axis = 0> (s, r)",
    "through a Reshape": "k = Concat <axis = 0> (b, m1, four) u = Unsqueeze (row, a)"
    " q = Expand (u, k) z = Constant <value = int64[2] {-1, 4}> () r = Reshape (q, z)"
    " t = Concat <axis = 0> (s, r)",
    "some iterations": f"{BLOCK} f = Greater (m, one) t = If (f) <then_branch = p ()"
    " => (float[K, 4] u) { u = Concat <axis = 0> (s, r) }, else_branch = q ()"
    " => (float[K, 4] v) { v = Identity (s) }>",
    "columns": "u = Unsqueeze (row, b) k = Concat <axis = 0> (four, m1) r = Expand (u, k)"
    " t = Concat <axis = 1> (s, r)",
}


def model_of(body, *, opset=13, columns=False):
    result, first = ("4, K", "4, 1") if columns else ("K, 4", "1, 4")
    text = LOOP.format(opset=opset, result=result, first=first, body=body)
    return as_model(text.replace(f"float[{first}] h0", f"float[{first}] h0 = {{9, 8, 7, 6}}"))


def assert_equal(model, result, rows=(0, 1, 2, 7), most=(1, 4)):
    rng = np.random.default_rng(3)
    for count in rows:
        for limit in most:
            x = rng.normal(size=(count, 4)).astype(np.float32)
            feed = {"x": x, "n": rng.integers(0, limit, count)}
            assert_equal_outputs(model, result, feed)


@pytest.mark.parametrize("case", JOINED)
def test_rows_are_read_once_for_each_copy(case):
    model = model_of(JOINED[case], columns=case == "columns")
    result = transform(model).model
    types = op_types(result)
    assert "Loop" not in types and types.count("Gather") <= 4 and "CumSum" in types
    assert_equal(model, result)


KEPT = {
    "a block that is read elsewhere": f"{BLOCK} w = ReduceSum <keepdims = 0> (r)"
    " w2 = Sub (r, w) t = Concat <axis = 0> (s, w2)",
    "more than one row": "u = Concat <axis = 0> (row, row) k = Mul (m1, four) r = Tile (row, m1)"
    " z = Constant <value = int64[2] {-1, 4}> () q = Reshape (r, z) t = Concat <axis = 0> (s, q)",
}


@pytest.mark.parametrize("case", KEPT)
def test_near_misses(case):
    model = model_of(KEPT[case])
    result = transform(model).model
    assert "Loop" in op_types(result)
    assert_equal(model, result, rows=(1, 5))


INTERLEAVE = """<ir_version: 8, opset_import: ["" : 13]>
g ({type}[{shape}] x, int64[T] n) => ({type}[{result}] y) {{
    at = Constant <value = int64 {{{dim}}}> () shape = Shape (x) trips = Gather (shape, at)
    count = Shape (n) like = ConstantOfShape <value = int64[1] {{1}}> (count)
    ns = SplitToSequence <axis = 0> (n, like) xs = SplitToSequence <axis = {dim}> (x, like)
    yes = Constant <value = bool {{1}}> () none = SequenceEmpty <dtype = {number}> ()
    q = Loop (trips, yes, none) <body = l (int64 i, bool c, seq({type}) s)
            => (bool c2, seq({type}) t) {{
        c2 = Identity (c) m = SequenceAt (ns, i) v = SequenceAt (xs, i)
        k = Constant <value = int64[1] {{{next}}}> () u = Unsqueeze (v, k)
        h = Constant <value = int64[{next}] {{{ahead}}}> ()
        z = Constant <value = int64[1] {{4}}> () sizes = Concat <axis = 0> (h, m, z)
        all = Shape (sizes) ones = ConstantOfShape <value = int64[1] {{1}}> (all)
        minus = Constant <value = int64 {{-1}}> () old = Mul (ones, minus) same = Equal (sizes, old)
        sizes2 = Where (same, ones, sizes) e = Expand (u, sizes2)
        target = Constant <value = int64[{rank}] {{{target}}}> () r = Reshape (e, target)
        t = SequenceInsert (s, r) }}>
    y = ConcatFromSequence <axis = {dim}> (q) }}"""


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("elem_type", ["float", "int64", "bool"])
def test_repeat_interleave_as_torch_exports_it(batch, elem_type):
    """torch.onnx 2.x, symbolic_opset13.repeat_interleave."""
    number = {"float": 1, "int64": 7, "bool": 9}[elem_type]
    parts = (
        ("B, T, 4", "B, K, 4", 1, "-1, 1", "0, -1, 4")
        if batch
        else ("T, 4", "K, 4", 0, "1", "-1, 4")
    )
    shape, result, dim, ahead, target = parts
    model = as_model(
        INTERLEAVE.format(
            type=elem_type, number=number, shape=shape, result=result, dim=dim, next=dim + 1,
            ahead=ahead, rank=dim + 2, target=target,
        )
    )  # fmt: skip
    outcome = transform(model)
    assert not {"Loop", "SplitToSequence", "SequenceAt"} & {*op_types(outcome.model)}
    assert outcome.verdict.equal
    rng = np.random.default_rng(1)
    for count, most in ((1, 2), (3, 4), (9, 1), (9, 3)):
        sizes = (2, count, 4)[not batch :]
        x = rng.integers(0, 9, sizes).astype({1: np.float32, 7: np.int64, 9: np.bool_}[number])
        feed = {"x": x, "n": rng.integers(0, most, count)}
        (copies,) = run_in_onnxruntime(outcome.model, feed)
        np.testing.assert_array_equal(copies, np.repeat(x, feed["n"], axis=dim))


def test_a_sequence_of_a_type_that_no_split_makes_stays():
    parts = {"shape": "T, 4", "result": "K, 4", "dim": 0, "next": 1, "ahead": "1", "rank": 2}
    text = INTERLEAVE.format(type="uint8", number=2, target="-1, 4", **parts)
    outcome = transform(as_model(text))
    assert "Loop" in op_types(outcome.model)


LISTS = """g (float[T, 4] x, int64[T] n, int64 more) => (float[K, 4] y) <int64[1] a = {0},
        int64[1] four = {4}, bool yes = {1}, int64 zero = {0}> {
    sizes = Shape (x) trips = Gather (sizes, zero) none = SequenceEmpty ()
    q = Loop (trips, yes, none) <body = l (int64 i, bool c, seq(float) s)
            => (bool c2, seq(float) t) {
        c2 = Identity (c) row = Gather (x, i) m = Gather (n, i) m1 = Unsqueeze (m, a)
        size = Concat <axis = 0> (m1, four) r = Expand (row, BLOCK) t = SequenceInsert (s, r) }>
    p = Loop (more, yes, q) <body = k (int64 i, bool c, seq(float) s) => (bool c2, seq(float) t) {
        c2 = Identity (c) r = SequenceAt (s, zero) w = Neg (r) t = SequenceInsert (s, w) }>
    y = ConcatFromSequence <axis = 0> (p) }"""


@pytest.mark.parametrize("size", ["size", "[1, 4]"])
def test_another_loop_reads_the_sequence(size, recwarn):
    text = LISTS.replace("BLOCK", "size" if size == "size" else "one")
    text = text.replace("int64 zero", "int64[2] one = {1, 4}, int64 zero")
    model = as_model(text)
    result = transform(model).model
    assert op_types(result).count("Loop") == 1 and "SplitToSequence" in op_types(result)
    assert not list(recwarn)
    x, n = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([2, 1, 3])
    assert_equal_outputs(model, result, {"x": x, "n": n, "more": np.array(2)})


SLICES = """<ir_version: 8, opset_import: ["" : 18]>
g (float[N, 2] x, int64[T] s, int64[T] e, int64[N] p, float[N, 2] y0) => (float[K, 2] y)
        <int64[1] a = {{0}}, int64[1] last = {{-1}}, int64 zero = {{0}}, int64 one = {{1}},
        int64 two = {{2}}, bool yes = {{1}}> {{
    sizes = Shape (s) trips = Gather (sizes, zero) none = SequenceEmpty ()
    {name} = Loop (trips, yes, {first}) <body = l (int64 i, bool c, {type} b)
            => (bool c2, {type} t) {{
        c2 = Identity (c) si = Gather (s, i) ei = Gather (e, i) s1 = Unsqueeze (si, a)
        e1 = Unsqueeze (ei, a) part = Slice (x, s1, e1, a) r = Neg (part) {body} }}> {after} }}"""
TENSOR = {"name": "y", "first": "y0", "type": "float[B, 2]", "after": ""}
LIST = {"name": "q", "first": "none", "type": "seq(float)",
        "after": "y = ConcatFromSequence <axis = 0> (q)"}  # fmt: skip
AT = "at = Slice (p, s1, e1, a) at2 = Unsqueeze (at, last)"
BLOCKS = {
    "joined": (TENSOR, "t = Concat <axis = 0> (b, r)"),
    "joined in front": (TENSOR, "t = Concat <axis = 0> (r, b)"),
    "of some iterations": (TENSOR, "m = Mod (i, two) f = Equal (m, zero) t = If (f) <"
     "then_branch = f () => (float[K, 2] u) { u = Concat <axis = 0> (r, b) },"
     " else_branch = o () => (float[K, 2] v) { v = Identity (b) }>"),
    "a list": (LIST, "t = SequenceInsert (b, r)"),
    "a list backward": (LIST, "t = SequenceInsert (b, r, zero)"),
    "one of a list": ({**LIST, "after": "y = SequenceAt (q, zero)"}, "t = SequenceInsert (b, r)"),
    "written": (TENSOR, f"{AT} t = ScatterND (b, at2, r)"),
    "written by two numbers": (TENSOR, "at = Range (si, ei, one) at2 = Unsqueeze (at, last)"
     " t = ScatterND (b, at2, r)"),
    "added": (TENSOR, f'{AT} t = ScatterND <reduction = "add"> (b, at2, r)'),
    "the greatest of places": (TENSOR, f"{AT} at3 = Concat <axis = 1> (at2, at2)"
     ' t = ScatterElements <reduction = "max"> (b, at3, r)'),
}  # fmt: skip


@pytest.mark.parametrize("case", BLOCKS)
def test_blocks_of_slices(case):
    form, body = BLOCKS[case]
    model = as_model(SLICES.format(**form, body=body))
    result = transform(model).model
    assert "Loop" not in op_types(result)
    rng = np.random.default_rng(5)
    for counts in ((), (1,), (0, 2, 3), (2, 0, 0, 1, 7)):
        if form is not TENSOR and not sum(counts):
            continue  # there is no element to join
        total = sum(counts) + 1
        ends = np.cumsum(counts, dtype=np.int64)
        feed = {"x": rng.normal(size=(total, 2)), "y0": rng.normal(size=(total, 2))}
        feed = {name: value.astype(np.float32) for name, value in feed.items()}
        feed |= {"s": ends - np.array(counts, np.int64), "e": ends, "p": rng.permutation(total)}
        assert_equal_outputs(model, result, feed)


def test_places_and_blocks_of_other_sizes_fail():
    """As the Scatter of each iteration does."""
    body = BLOCKS["written by two numbers"][1].replace("Range (si, ei, one)", "Range (si, e3, one)")
    model = as_model(SLICES.format(**TENSOR, body=f"e3 = Add (ei, one) {body}"))
    result = transform(model).model
    assert "Loop" not in op_types(result)
    x, s, e = np.ones((4, 2), np.float32), np.array([0, 1]), np.array([1, 3])
    for each in (model, result):
        with pytest.raises(reference.EvaluationError):
            by_reference(each, {"x": x, "y0": x, "s": s, "e": e, "p": np.arange(4)})


def test_two_rows_of_one_place_are_added():
    body = "g = Gather (x, i) u = Unsqueeze (g, a) w = Concat <axis = 0> (u, u)"
    body += " h = Reshape (i, k) j = Concat <axis = 0> (h, h)"
    body += ' t = ScatterND <reduction = "add"> (b, j, w)'
    text = SLICES.format(**TENSOR, body=body).replace("int64 two", "int64[2] k = {1, 1}, int64 two")
    model = as_model(text)
    result = transform(model).model
    assert "Loop" not in op_types(result)
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    ends = np.array([0, 0, 0])
    assert_equal_outputs(model, result, {"x": x, "y0": x, "s": ends, "e": ends, "p": np.arange(4)})
