import numpy as np
from conversions import assert_carried, assert_writes
from tables import table

NUMBERS = {
    "uint8": [[0, 255, 170, 1], [255, 85, 204, 128]],
    "int16": [[0, -1, -32768, 21845], [-1, 32767, 12345, -2]],
    "int64": [[0, -1, -(2**63), 2**40 + 3], [2**63 - 1, -(2**40), 12345, 2**33 + 1]],
    "uint64": [[0, 2**64 - 1, 2**63 + 5, 2**40 + 3], [2**64 - 1, 7, 2**63, 2**33 + 1]],
}


@table(
    ("BitwiseAnd", "int64"),
    ("BitwiseOr", "int64"),
    ("BitwiseXor", "uint64"),
    ("BitwiseAnd", "int16"),
    ("BitwiseOr", "uint8"),
)
def test_bits_are_combined(op_type, kind):
    x, z = (np.array(row, kind) for row in NUMBERS[kind])
    signature = f"{kind}[2, 2] x, {kind}[2] z"
    feeds = {"x": x.reshape(2, 2), "z": z[:2]}
    assert_carried(f"y = {op_type} (x, z)", 18, (17,), feeds, signature)


def test_all_bits_are_turned():
    assert_writes("y = BitwiseNot (x)", 18, 17, ["Sub (255, x)"], "uint8[N] x")
    x = np.array(NUMBERS["int64"][0], np.int64)
    assert_carried("y = BitwiseNot (x)", 18, (17, 9), {"x": x}, "int64[4] x")
