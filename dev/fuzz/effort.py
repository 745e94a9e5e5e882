"""Do the kernels of the reference take as long as the operators' classes say? `make fuzz` runs it.

It measures time, with room for a slow machine, so it is no test.
"""

import sys
import time

import numpy as np
from onnx import helper
from operator_facts import make_node
from straightline.ops import rules_of
from straightline.reference import operator_kernel

STEPS_A_SECOND = 1e9
ROOM, READY = 3, 0.05
"""How many times as long a kernel may take, and the seconds for what a first call makes ready."""


def ones(*shape):
    return np.ones(shape, np.float32)


IMAGE = ones(1, 2, 40, 40)
LIMITED = [
    ("Add", [ones(200, 200), ones(200, 200)], {}),
    ("MaxPool", [IMAGE], {"kernel_shape": [9, 9], "pads": [4] * 4}),
    ("AveragePool", [IMAGE], {"kernel_shape": [9, 9], "pads": [4] * 4}),
    ("LpPool", [IMAGE], {"kernel_shape": [9, 9], "pads": [4] * 4}),
    ("Conv", [IMAGE, ones(3, 2, 9, 9)], {"pads": [4] * 4}),
    ("ConvTranspose", [ones(1, 2, 12, 12), ones(2, 3, 4, 4)], {}),
    ("DeformConv", [ones(1, 1, 9, 9), ones(1, 1, 3, 3), ones(1, 18, 7, 7)], {}),
    ("Col2Im", [ones(1, 9, 196), np.array([16, 16]), np.array([3, 3])], {}),
    ("Einsum", [ones(40, 40), ones(40, 40), ones(40, 40)], {"equation": "ab,bc,cd->ad"}),
    ("LSTM", [ones(100, 1, 4), ones(1, 64, 4), ones(1, 64, 16)], {"hidden_size": 16}),
    ("GRU", [ones(100, 1, 4), ones(1, 48, 4), ones(1, 48, 16)], {"hidden_size": 16}),
    ("RoiAlign", [ones(1, 2, 9, 9), 4 * ones(4, 4), np.zeros(4, np.int64)], {}),
    ("GridSample", [ones(1, 1, 8, 8), ones(1, 40, 40, 2)], {}),
    ("ScatterElements", [ones(60, 60), np.zeros((60, 60), np.int64), ones(60, 60)], {}),
]


def seconds(op_type, arrays, attributes):
    """How long a kernel takes, and how long its operator's class says."""
    names = [f"i{place}" for place in range(len(arrays))]
    kernel = operator_kernel(helper.make_node(op_type, names, ["y"], **attributes), {"": 20})
    kernel(arrays)
    started = time.process_time()
    kernel(arrays)
    spent = time.process_time() - started
    node = make_node(op_type, arrays, **attributes)
    return spent, rules_of(node.op).work(node, arrays) / STEPS_A_SECOND


def main():
    slow = False
    for op_type, arrays, attributes in LIMITED:
        spent, expected = seconds(op_type, arrays, attributes)
        beyond = spent > ROOM * expected + READY
        slow |= beyond
        print(f"{op_type:20}{spent * 1e3:10.2f} ms of {expected * 1e3:.2f}{' TOO SLOW' * beyond}")
    return slow


if __name__ == "__main__":
    sys.exit(main())
