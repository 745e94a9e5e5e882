import numpy as np
import pytest
from harness import assert_keeps, assert_rewrites
from straightline.passes import UnrollLoops

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def test_carried_value():
    assert_rewrites(
        UnrollLoops(),
        HEAD
        + """
        g (float[2] x) => (float[2] y) <int64 two = {2}> {
           y = Loop (two, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
              r = Neg (a)
           }>
        }""",
        HEAD
        + """
        g (float[2] x) => (float[2] y) <int64 two = {2}> {
           r_0 = Neg (x)
           y = Neg (r_0)
        }""",
        [{"x": np.array([1, -2], np.float32)}],
    )


def test_scan_output():
    assert_rewrites(
        UnrollLoops(),
        HEAD
        + """
        g (float[2] x) => (float[2] y, float[2,2] s) <int64 two = {2}, bool yes = {1}> {
           y, s = Loop (two, yes, x) <body = b (int64 i, bool c, float[2] a)
                                             => (bool c, float[2] r, float[2] r) {
              r = Neg (a)
           }>
        }""",
        HEAD
        + """
        g (float[2] x) => (float[2] y, float[2,2] s) <int64 two = {2}, bool yes = {1},
                                                      int64[1] axes = {0}> {
           r_0 = Neg (x)
           y = Neg (r_0)
           r_0_row = Unsqueeze (r_0, axes)
           r_1_row = Unsqueeze (y, axes)
           s = Concat <axis = 0> (r_0_row, r_1_row)
        }""",
        [{"x": np.array([1, -2], np.float32)}],
    )


def test_run_time_trip_count_is_kept():
    assert_keeps(
        UnrollLoops(),
        HEAD
        + """
        g (float[2] x, int64 n) => (float[2] y) {
           y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
              r = Neg (a)
           }>
        }""",
        "trip count depends on input 'n'; decide it with --set n=...",
    )


@pytest.mark.parametrize("limit", [{"max_trips": 4}, {"max_nodes": 4}])
def test_over_budget_is_kept(limit):
    assert_keeps(
        UnrollLoops(**limit),
        HEAD
        + """
        g (float[2] x) => (float[2] y) <int64 n = {5}> {
           y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
              r = Neg (a)
           }>
        }""",
        next(iter(limit)),
    )
