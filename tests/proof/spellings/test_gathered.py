"""Where as a Gather."""

from spelled import model, require_open, require_same

SIGNATURE = "(bool[2,3] c, float[2,3] x, float[2,3] z) => (float[2,3] y)"
GATHERED = (
    "<int64[1] s = {6}, int64[2] t = {2, 3}, int64[6] p = {0, 1, 2, 3, 4, 5}> {"
    " d = Reshape (c, s) a = Reshape (x, s) b = Reshape (z, s) h = Concat <axis = 0> (a, b)"
    " n = Not (d) k = Cast <to = 7> (n) o = Mul (k, s) q = Add (o, p)"
    " g = Gather <axis = 0> (h, q) y = Reshape (g, t) }"
)


def test_the_second_half_where_a_condition_fails():
    new = model("y = Where (c, x, z)", 9, SIGNATURE)
    require_same(model(GATHERED, 8, SIGNATURE), new)
    whole = GATHERED.replace("n = Not (d)", "n = Identity (d)")
    swapped = model("y = Where (c, z, x)", 9, SIGNATURE)
    require_same(model(whole, 8, SIGNATURE), swapped)
    require_open(model(whole, 8, SIGNATURE), new)


def test_other_places():
    new = model("y = Where (c, x, z)", 9, SIGNATURE)
    require_open(model(GATHERED.replace("0, 1, 2", "0, 2, 1"), 8, SIGNATURE), new)
    half = GATHERED.replace("o = Mul (k, s)", "w = Identity (k) o = Mul (k, w)")
    require_open(model(half, 8, SIGNATURE), new)


def test_halves_of_other_sizes():
    signature = "(bool[2] c, float[1] x, float[3] z) => (float[2] y)"
    text = (
        "<int64[1] s = {2}, int64[2] p = {0, 1}> { h = Concat <axis = 0> (x, z) n = Not (c)"
        " k = Cast <to = 7> (n) o = Mul (k, s) q = Add (o, p) y = Gather <axis = 0> (h, q) }"
    )
    gathered = model(text, 8, signature)
    require_same(gathered, gathered, "reference")


def test_of_one_element():
    signature = "(bool[1] c, float[1] x, float[1] z) => (float[1] y)"
    text = (
        "<int64 s = {1}, int64[1] p = {0}> { h = Concat <axis = 0> (x, z) n = Not (c)"
        " k = Cast <to = 7> (n) o = Mul (k, s) q = Add (o, p) y = Gather <axis = 0> (h, q) }"
    )
    new = model("y = Where (c, x, z)", 9, signature)
    require_same(model(text, 8, signature), new)
    require_open(model(text.replace("s = {1}", "s = {0}"), 8, signature), new)


def test_more_places_than_elements():
    signature = "(bool[3] c, float[1] x, float[1] z) => (float[3] y)"
    text = (
        "<int64 s = {1}, int64[1] p = {0}> { h = Concat <axis = 0> (x, z) n = Not (c)"
        " k = Cast <to = 7> (n) o = Mul (k, s) q = Add (o, p) y = Gather <axis = 0> (h, q) }"
    )
    gathered = model(text, 8, signature)
    require_same(gathered, gathered)
    require_open(gathered, model("y = Where (c, z, x)", 9, signature))
