import pytest
from proofs import assert_open, assert_proved
from tables import table

IMAGE = (
    "g (float[n, 8, 2, 3] x) => (float[n, 2, 4, 6] y) <int64[6] p = {{{}}}, int64[4] q = {{{}}}>"
)
DEPTH = (
    "g (float[n, 2, 4, 6] x) => (float[n, 8, 2, 3] y) <int64[6] p = {{{}}}, int64[4] q = {{{}}}>"
)
NODES = "a = Reshape (x, p) t = Transpose <perm = {}> (a) y = Reshape (t, q)"


@table(
    ("DCR", IMAGE.format("0, 2, 2, 2, 2, 3", "0, 2, 4, 6"),
     "y = DepthToSpace <blocksize = 2> (x)", [0, 3, 4, 1, 5, 2], [0, 3, 4, 2, 5, 1]),
    ("CRD", IMAGE.format("0, 2, 2, 2, 2, 3", "0, 2, 4, 6"),
     'y = DepthToSpace <blocksize = 2, mode = "CRD"> (x)', [0, 1, 4, 2, 5, 3], [0, 3, 4, 1, 5, 2]),
    ("SpaceToDepth", DEPTH.format("0, 2, 2, 2, 3, 2", "0, 8, 2, 3"),
     "y = SpaceToDepth <blocksize = 2> (x)", [0, 3, 5, 1, 2, 4], [0, 5, 3, 1, 2, 4]))  # fmt: skip
def test_blocks_are_moved(name, head, short, perm, other):
    texts = [f"{head} {{ {nodes} }}" for nodes in (short, NODES.format(perm), NODES.format(other))]
    assert assert_proved(texts[0], texts[1]).assumptions == ()
    assert_open(texts[0], texts[2])


def test_copies():
    head = "g (float[2, m] x, int64[2] r) => (float[a, b] y) <int64[2] c = {2, 1}, int64[2, 1] one"
    head += " = {1, 1}, int64[2] axes = {0, 2}, int64[1] flat = {4}>"
    nodes = """i = Reshape (r, c) j = Concat <axis = 1> (%s) k = Reshape (j, flat)
        u = Unsqueeze (x, axes) e = Expand (u, k) s = Shape (x) z = Mul (s, r)
        y = Reshape <allowzero = 1> (e, z)"""
    before = f"{head} {{ y = Tile (x, r) }}"
    assert assert_proved(before, f"{head} {{ {nodes % 'i, one'} }}").assumptions == ()
    assert_open(before, f"{head} {{ {nodes % 'one, i'} }}")


def test_center_crop_pad():
    head = "g (float[5, 6] x) => (float[4, 8] y) <int64[2] s = {4, 8}, int64[4] p = {0, 1, 0, 1}, "
    head += "int64[1] a = {%d}, int64[1] e = {%d}, int64[1] axis = {0}>"
    before = f"{head % (0, 4)} {{ y = CenterCropPad (x, s) }}"
    after = "{ k = Slice (x, a, e, axis) y = Pad (k, p) }"
    assert assert_proved(before, f"{head % (0, 4)} {after}").assumptions == ()
    assert_open(before, f"{head % (1, 5)} {after}")


def test_center_crop_pad_to_sizes_of_run_time():
    head = (
        "g (float[5, 6] x, int64[2] s) => (float[m, n] y) <int64[1] two = {2}, int64[2] h = {5, 6}>"
    )
    before = f"{head} {{ y = CenterCropPad (x, s) }}"
    after = f"""{head} {{
        m = Max (h, s) a = Sub (m, h) l = Div (a, two) r = Sub (a, l) p = Concat <axis = 0> (l, r)
        w = Pad (x, p) k = Shape (w) d = Sub (k, s) b = Div (d, two) e = Add (b, s)
        y = Slice (w, b, e) }}"""
    assert assert_proved(before, after).assumptions == ()
    assert_open(before, after.replace("r = Sub (a, l)", "r = Sub (a, a)"))


TRIANGLE = """g (float[n, a, b] x, int64 k, int64[1] l) => (float[n, a, b] y) <int64 zero = {{0}},
    int64 one = {{1}}, int64[1] first = {{1}}, float nothing = {{0}},
    int64[0] scalar = {{}}> {{ {} }}"""
DISTANCES = """s = Shape (x) o, p, q = Split <num_outputs = 3> (s) h = Squeeze (p) w = Squeeze (q)
    r = Range (zero, h, one) d = Unsqueeze (r, first) c = Range (zero, w, one)"""


@pytest.mark.parametrize("side", ["Greater", "Less"])
def test_a_triangle(side):
    attribute = f"upper = {int(side == 'Greater')}"
    kept = {
        "": f"m = {side}OrEqual (c, d)",
        ", k": f"e = Sub (c, d) m = {side}OrEqual (e, k)",
        ", l": f"e = Sub (c, d) f = Reshape (l, scalar) u = {side} (e, f) v = Equal (e, f)"
        " m = Or (u, v)",
    }
    keeps_signs = "onnxruntime's Where kept the sign of -0.0"
    for diagonal, mask in kept.items():
        before = TRIANGLE.format(f"y = Trilu <{attribute}> (x{diagonal})")
        after = TRIANGLE.format(f"{DISTANCES} {mask} y = Where (m, x, nothing)")
        assert assert_proved(before, after).assumptions == (keeps_signs,)
        assert_open(before, after.replace("OrEqual", "").replace("Or (u, v)", "Not (v)"))
        assert_open(
            before, after.replace("(r, first)", "(c, first)").replace("(zero, w", "(zero, h")
        )
        assert_open(before.replace(attribute, f"upper = {int(side == 'Less')}"), after)


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
def test_the_last_place_of_an_extreme(name):
    axis = "axis = 1, keepdims = 0"
    places = """g (int32[n, m] x) => (int64[n] y) <int64[1] last = {{-1}}, int64[1] axes = {{1}},
        int64 one = {{1}}, int64[1] front = {{-9223372036854775808}}> {{ {} }}"""
    before = places.format(f"y = {name} <{axis}, select_last_index = 1> (x)")
    after = places.format(
        f"t = Slice (x, last, front, axes, last) p = {name} <{axis}> (t) s = Shape (x)"
        " w = Gather (s, one) e = Sub (w, one) y = Sub (e, p)"
    )
    assert assert_proved(before, after).assumptions == ()
    assert_open(before, after.replace("e = Sub (w, one)", "e = Identity (w)"))
    assert_open(before, places.format(f"y = {name} <{axis}> (x)"))
    floats = [text.replace("int32", "float") for text in (before, after)]
    assert assert_open(*floats, weaker=True).equality == "reals"  # kernels differ on NaN


FLAT = """{
    h = Shape (x) l = Gather (h, v) f = Gather (h, u)
    a = Gather <axis = 1> (i, u) p = Less (a, u) q = Add (a, f) c = Where (p, q, a)
    b = Gather <axis = 1> (i, v) r = Less (b, u) t = Add (b, l) d = Where (r, t, b)
    w = Mul (c, %s) z = Add (w, d) j = Reshape (x, s) y = Gather (j, z)
}"""


def test_index_tuples_count_elements():
    tuples = """g (float[n, m, 2] x, int64[k, 2] i) => (float[k, 2] y)
        <int64 u = {0}, int64 v = {1}, int64[2] s = {-1, 2}>"""
    before = tuples + "{ y = GatherND (x, i) }"
    assert assert_proved(before, tuples + FLAT % "l").assumptions == ()
    assert_open(before, tuples + FLAT % "f")
    assert_open(tuples + FLAT % "l", before)  # an index past a row is no failure there


IN_ONE_ROW = """{ s = Shape (x) h = Gather (s, zero) w = Gather (s, one)
    a = Gather <axis = 1> (i, zero) d = Less (a, zero) e = Add (a, h) f = Where (d, e, a)
    b = Gather <axis = 1> (i, one) g = Less (b, zero) j = Add (b, w) k = Where (g, j, b)
    m = Mul (f, %s) o = Add (m, k) p = Reshape (o, column) q = Shape (u) r = Expand (p, q)
    t = Flatten <axis = 2> (x) v = ScatterElements (t, r, u) y = Reshape <allowzero = 1> (v, s) }"""


def test_rows_at_index_tuples():
    rows = """g (float[n, 4, c] x, int64[k, 2] i, float[k, c] u) => (float[n, 4, c] y)
        <int64 zero = {0}, int64 one = {1}, int64[2] column = {-1, 1}> """
    before = rows + "{ y = ScatterND (x, i, u) }"
    assert assert_proved(before, rows + IN_ONE_ROW % "w").assumptions == ()
    assert_open(before, rows + IN_ONE_ROW % "h")
    assert_open(rows + IN_ONE_ROW % "w", before)  # an index past a row is no failure there
    added = before.replace("ScatterND", 'ScatterND <reduction = "add">')
    assert_open(added, rows + IN_ONE_ROW % "w")


def test_an_index_along_the_first_axis():
    text = """g (float[n, 2, 3] x, int64[j, 1] i) => (float[j, 2, 3] y) <int64[1] last = {-1},
        int64[2] front = {0, 1}> { %s }"""
    before = text % "y = GatherND (x, i)"
    assert assert_proved(before, text % "p = Squeeze (i, last) y = Gather (x, p)").assumptions == ()
    assert_open(before, text % "p = Squeeze (i, last) z = Neg (p) y = Gather (x, z)")
    batched = text % "y = GatherND <batch_dims = 1> (x, i)"
    assert_open(batched, text % "p = Squeeze (i, last) y = Gather (x, p)")
    maybe_empty = before.replace("2, 3", "m, 3")  # onnxruntime reads no index of empty rows
    assert_open(
        maybe_empty,
        maybe_empty.replace("y = G", "p = Squeeze (i, last) y = G").replace(
            "GatherND (x, i)", "Gather (x, p)"
        ),
    )


@pytest.mark.parametrize(("index", "is_within"), [(-2, True), (5, True), (6, False), (-7, False)])
def test_a_constant_index_of_rows_that_may_be_empty(index, is_within):
    text = "g (float[6, n, m] x) => (float[1, n, m] y) <int64[1, 1] i = {%d}, int64[1] p = {%d}>"
    claim = assert_proved if is_within else assert_open
    claim(
        text % (index, index) + "{ y = GatherND (x, i) }",
        text % (index, index) + "{ y = Gather (x, p) }",
    )


PADDED = """g (int64[n, m] x) => (int64[a, b] y) <int64[4] p = {{0, 1, 2, 0}}, int64 v = {{-1}},
    int64[1] two = {{2}}, int64[1] one = {{1}}, int64[1] zero = {{0}}, int64 other = {{0}}> {{
    s = Shape (x) {nodes} }}"""
JOINED = """w = Shape <start = 1> (x) d = Concat <axis = 0> (two, w) e = Expand ({0}, d)
    t = Concat <axis = 0> ({1}) h = Shape <end = 1> (t) f = Concat <axis = 0> (h, one)
    g = Expand ({0}, f) y = Concat <axis = 1> (g, t)"""


def test_a_pad_is_a_concat():
    before = PADDED.format(nodes="y = Pad (x, p, v)")
    after = JOINED.format("v", "x, e")
    assert assert_proved(before, PADDED.format(nodes=after)).assumptions == ()
    assert_open(before, PADDED.format(nodes=JOINED.format("v", "e, x")))
    assert_open(before, PADDED.format(nodes=JOINED.format("other", "x, e")))
    zeros = PADDED.format(nodes="y = Pad (x, p)")
    assert_proved(zeros, PADDED.format(nodes=JOINED.format("other", "x, e")))
    edges = PADDED.format(nodes='y = Pad <mode = "edge"> (x, p, v)')
    assert_open(edges, PADDED.format(nodes=after))
    assert_open(before.replace("{0, 1, 2, 0}", "{0, 1, 2, -1}"), PADDED.format(nodes=after))
