"""Arrays that are written in a word."""

import numpy as np

ONE = np.ones((1, 1, 1, 1), np.float32)


def ints(*numbers):
    return np.array(numbers, np.int64)


def floats(*numbers):
    return np.array(numbers, np.float32)


def ones(*shape):
    return np.ones(shape, np.float32)
