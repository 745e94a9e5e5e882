import numpy as np
from proofs import assert_open, assert_proved, model
from sessions import by_reference
from spelled import same_bits
from tables import table


def test_a_sequence_is_mapped_element_by_element():
    text = """g (float[2] x, float[2] y) => (seq(float[2]) z) { s = SequenceConstruct (x, y) %s }"""
    each_of = "z = SequenceMap <body = b (float[2] e) => (float[2] o) { o = %s (e) }> (s)"
    assert_proved(
        text % each_of % "Neg", text % "a = Neg (x) b = Neg (y) z = SequenceConstruct (a, b)"
    )
    assert_open(
        text % each_of % "Neg", text % "a = Neg (x) b = Neg (y) z = SequenceConstruct (b, a)"
    )


RUN_TIME = """g (seq(float[n]) s, seq(float[n]) r, float[2] t)
    => (seq(float[n]) z, seq(float[n]) w) {{ {} }}"""
MAPPED = """z, w = SequenceMap <body = b (float[n] e, float[2] u, float[n] f)
    => (float[n] o, float[n] p) { o = Mul (e, u) p = Sub (o, f) }> (s, t, r)"""
LOOP = """count = SequenceLength (s) go = Constant <value = bool {1}> ()
    none = SequenceEmpty <dtype = 1> () empty = SequenceEmpty <dtype = 1> ()
    z, w = Loop (count, go, none, empty) <body = b
        (int64 i, bool c, seq(float[n]) y, seq(float[n]) v)
        => (bool c2, seq(float[n]) y2, seq(float[n]) v2) {
        c2 = Identity (c) e = SequenceAt (s, i) f = SequenceAt (r, i)
        o = Mul (e, t) p = Sub (o, f)
        y2 = SequenceInsert (y, o) v2 = SequenceInsert (v, p) }>"""


def test_a_sequence_of_run_time_is_mapped_as_a_loop_does():
    before, after = RUN_TIME.format(MAPPED), RUN_TIME.format(LOOP)
    assert_proved(before, after)
    assert_proved(after, before)
    for length in (0, 1, 3):
        feeds = {name: [np.arange(2, dtype=np.float32) + k for k in range(length)] for name in "sr"}
        feeds["t"] = np.array([0.1, -3], np.float32)
        one, other = (by_reference(model(text), feeds) for text in (before, after))
        for sequences in zip(one, other, strict=True):
            assert len(sequences[0]) == len(sequences[1]) == length
            assert same_bits(*sequences)


@table(
    ("SequenceAt (r, i)", "SequenceAt (s, i)"),
    ("SequenceInsert (v, p)", "SequenceInsert (v, o)"),
    ("SequenceInsert (v, p)", "SequenceInsert (v, p, i0)"),
    ("SequenceLength (s)", "SequenceLength (r)"),
    ("Sub (o, f)", "Sub (f, o)"),
    ("SequenceAt (r, i)", "SequenceAt (r, i0)"),
)
def test_a_different_loop_is_not_equal(old, new):
    other = LOOP.replace("c2 = Identity", "i0 = Sub (i, i) c2 = Identity").replace(old, new)
    assert_open(RUN_TIME.format(MAPPED), RUN_TIME.format(other))


def test_elements_have_sizes_of_their_own():
    text = "g (seq(float[n]) s) => (seq(int64[1]) z) {{ {} }}"
    mapped = "z = SequenceMap <body = b (float[n] e) => (int64[1] o) { o = Shape (e) }> (s)"
    first = """i = Constant <value = int64 {0}> () x = SequenceAt (s, i) y = Shape (x)
        z = SequenceMap <body = b (float[n] e) => (int64[1] o) { o = Identity (y) }> (s)"""
    assert_open(text.format(mapped), text.format(first))
    assert_proved(text.format(mapped), text.format(mapped))
