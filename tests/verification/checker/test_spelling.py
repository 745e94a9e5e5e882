"""Operators in several spellings, which are one term."""

import pytest
from certificates import assert_derived, assert_none
from pairs import pairs

SAME = pairs("""
# axis-from-the-front
(float[n, 2] x) {
- y = Softmax <axis = -1> (x) }
+ y = Softmax <axis = 1> (x) }
# from the front
(float[n, 2] x)
- <int64[1] a = {-1}> { y = ReduceMax (x, a) }
+ <int64[1] a = {1}> { y = ReduceMax (x, a) }
# all
(float[n, 2] x)
- { y = ReduceMax (x) }
+ <int64[2] a = {0, 1}> { y = ReduceMax (x, a) }
# reshape-without-zeros
(float[n] x, float[m] w) <int64[2] s = {1, -1}> {
- y = Reshape <allowzero = 1> (x, s) }
+ y = Reshape (x, s) }
# inputs, 13, 18
(float[n, 2] x)
- { y = ReduceMean <axes = [1]> (x) }
+ <int64[1] a = {1}> { y = ReduceMean (x, a) }
# softmax-along-last-axis, 11, 13
(float[n, 2] x) {
- y = Softmax (x) }
+ y = Softmax <axis = 1> (x) }
# indices-from-the-front, 9, 13
(float[n, 2] x) <int64[1] i = {1}> { y = Gather (x, i)
- }
+ }
# equal parts, 13, 18
(float[n, 6] x) {
- y, b, c = Split <axis = -1> (x) }
+ y, b, c = Split <axis = 1, num_outputs = 3> (x) }
# parts of one size, 11, 18
(float[6] x)
- { y, b = Split (x) }
+ <int64[2] s = {3, 3}> { y, b = Split (x, s) }
# rows that a loop may not have: axes, 11, 13
(float[2] x, int64 m, bool u) { y = Loop (m, u) <body = b (int64 i, bool c) => (bool d, o) {
- d = Identity (c) o = Unsqueeze <axes = [0]> (x) }> }
+ d = Identity (c) a = Constant <value_ints = [0]> () o = Unsqueeze (x, a) }> }
# rows that a loop may not have, 13, 18
(float[n, 6] x, int64 count) { y = Loop (count, , ) <body = b (int64 i, bool c) => (bool d, r) {
- d = Identity (c) p, q, o = Split <axis = 1> (x) r = Add (p, q) }> }
+ d = Identity (c) p, q, o = Split <axis = 1, num_outputs = 3> (x) r = Add (p, q) }> }
""")
OTHER = pairs("""
# parts that are smaller, 18, 13
(float[5] x) {
- y, b = Split <num_outputs = 2> (x) }
+ y, b = Split (x) }
# no parts, 18, 13
(float[0] x) {
- y, b = Split <num_outputs = 2> (x) }
+ y, b = Split (x) }
# a part of another size, 13, 18
(float[6] x)
- { y, b = Split (x) }
+ <int64[2] s = {2, 4}> { y, b = Split (x, s) }
""")


def texts(pair):
    return [f"g {text.replace(')', ') => (y)', 1)}" for text in pair[:2]]


@pytest.mark.parametrize("name", SAME)
def test_spellings_are_one_term(name):
    pair, opsets = texts(SAME[name]), SAME[name].opsets or (18, 18)
    for before, after, versions in ((*pair, opsets), (*pair[::-1], opsets[::-1])):
        assert assert_derived(before, after, opsets=versions).steps == 0


@pytest.mark.parametrize("name", OTHER)
def test_other_operators_are_other_terms(name):
    assert_none(*texts(OTHER[name]), opsets=OTHER[name].opsets)
