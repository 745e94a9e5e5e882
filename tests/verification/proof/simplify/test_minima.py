from proofs import assert_open, assert_proved


def test_a_minimum_with_a_bound_is_the_number():
    clamped = """g (float[N, 3] x) => (float[N, 3] y)
        <bool yes = {1}, int64 zero = {0}, int64 one = {1}> {
        s = Shape (x) n = Gather (s, zero) last = Sub (n, one)
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[3] r) {
            d = Identity (c) %s r = Gather (x, j) }> }"""
    plain = clamped % "j = Identity (i)"
    assert_proved(plain, clamped % "j = Min (i, last)")
    assert_proved(plain, clamped % "j = Min (last, i)")
    assert_open(plain, clamped % "p = Sub (last, one) j = Min (i, p)")
    assert_open(plain, clamped % "p = Add (i, one) j = Min (p, last)")
