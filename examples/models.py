"""The models that the documentation speaks of, small ones of each kind.

Run: python examples/models.py [folder]
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'

# A voice detector: a recurrent cell over the frames, and another scale for each sample rate.
VOICE = """voice (float[N, T] x, int64 sr) => (float[N, 4] y) <
    int64 wide = {16000}, float[4] start = {0, 0, 0, 0}, int64[1] frame = {4}, int64 zero = {0},
    int64 one = {1}, float half = {0.5}, float double = {2.0}, int64[1] batch = {0}
> {
    is_wide = Equal (sr, wide)
    scaled = If (is_wide) <
        then_branch = keep () => (float[N, T] kept) { kept = Mul (x, half) },
        else_branch = more () => (float[N, T] more_x) { more_x = Mul (x, double) }
    >
    shape = Shape (scaled)
    rows = Gather (shape, zero)
    size = Unsqueeze (rows, batch)
    state_size = Concat <axis = 0> (size, frame)
    first = Expand (start, state_size)
    iterations = Gather (shape, one)
    y = Loop (iterations, , first) <body = step (int64 i, bool c, float[N, 4] h) =>
        (bool d, float[N, 4] next) {
        d = Identity (c)
        place = Unsqueeze (i, batch)
        column = Gather <axis = 1> (scaled, place)
        sum = Add (h, column)
        next = Tanh (sum)
    }>
}"""

# torch's x.squeeze(1) where the size of the dimension was not known.
SQUEEZE = """exported (float[batch, channels, width] x) => (float[M] y) <
    int64 one = {1}, int64[1] axes = {1}, int64[1] flat = {-1}
> {
    shape = Shape (x)
    size = Gather <axis = 0> (shape, one)
    single = Equal (size, one)
    squeezed = If (single) <
        then_branch = drop () => (float[] dropped) { dropped = Squeeze (x, axes) },
        else_branch = keep () => (float[] kept) { kept = Identity (x) }
    >
    y = Reshape (squeezed, flat)
}"""

# A loop over rows, as tf.map_fn and torch.jit.script write it: no iteration needs another one.
ROWS = """rows (float[64, 8] x, float[8, 8] w) => (float[64, 8] y) <
    int64 n = {64}, bool yes = {1}
> {
    y = Loop (n, yes) <body = row (int64 i, bool c) => (bool d, float[8] r) {
        d = Identity (c)
        e = Gather <axis = 0> (x, i)
        m = MatMul (e, w)
        r = Relu (m)
    }>
}"""

# A decoder that ends when its data says so, and after twenty steps at the latest.
SEARCH = """search (float[4] x) => (float[4] y, int64 steps) <
    int64 zero = {0}, int64 one = {1}, int64 most = {20}, float limit = {10.0}, bool yes = {1}
> {
    y, steps = Loop (, yes, x, zero) <
        body = step (int64 i, bool c, float[4] h, int64 k) =>
            (bool again, float[4] next, int64 count) {
        next = Add (h, h)
        count = Add (k, one)
        largest = ReduceMax <keepdims = 0> (next)
        small = Less (largest, limit)
        inside = Less (count, most)
        again = And (small, inside)
    }>
}"""

# A branch that the data itself chooses, as torch.cond writes it.
GATE = """gate (float[4] x) => (float[4] y) <float zero = {0.0}> {
    sum = ReduceSum <keepdims = 0> (x)
    positive = Greater (sum, zero)
    y = If (positive) <
        then_branch = yes () => (float[4] a) { a = Exp (x) },
        else_branch = no () => (float[4] b) { b = Neg (x) }
    >
}"""

# Parts that are put into a sequence and taken out again, which opset 10 has no operators for.
PARTS = """parts (float[2] a, float[2] b, int64 k) => (float[2] y) {
    s = SequenceConstruct (a, b)
    y = SequenceAt (s, k)
}"""

# A model of opset 18, with axes as inputs: older compilers want attributes.
NEW = """new (float[2, 1, 3] x) => (float[2] y) <int64[1] middle = {1}, int64[1] last = {1}> {
    flat = Squeeze (x, middle)
    total = ReduceMax <keepdims = 0> (flat, last)
    y = Relu (total)
}"""

# A recurrence over 24 rows, written out by hand: the body of the demo as a Scan.
DECODER = """decoder (float[24, 4] x, float[4] s) => (float[4] last, float[24, 4] y) {
    last, y = Scan <num_scan_inputs = 1, body = step (float[4] h, float[4] e) =>
        (float[4] next, float[4] row) {
        sum = Add (h, e)
        next = Tanh (sum)
        row = Identity (next)
    }> (s, x)
}"""

# A GRU over open many words, written out by hand as torch.jit.script exports it.
TAGGER = """tagger (float[T, 1, 32] words) => (float[T, 1, 32] tags) {
    zero = Constant <value_int = 0> ()
    yes = Constant <value = bool {1}> ()
    start = ConstantOfShape <value = float[1] {0}> (state_shape)
    shape = Shape (words)
    n = Gather (shape, zero)
    last, tags = Loop (n, yes, start) <
        body = step (int64 i, bool c, float[1, 32] h) =>
            (bool d, float[1, 32] next, float[1, 32] tag) {
        one = Constant <value = float {1}> ()
        d = Identity (c)
        word = Gather <axis = 0> (words, i)
        word_z = MatMul (word, wz)
        word_r = MatMul (word, wr)
        word_n = MatMul (word, wn)
        state_z = MatMul (h, uz)
        state_r = MatMul (h, ur)
        sum_z = Add (word_z, state_z)
        sum_r = Add (word_r, state_r)
        update = Sigmoid (sum_z)
        reset = Sigmoid (sum_r)
        kept = Mul (reset, h)
        state_n = MatMul (kept, un)
        sum_n = Add (word_n, state_n)
        new = Tanh (sum_n)
        rest = Sub (one, update)
        fresh = Mul (rest, new)
        old = Mul (update, h)
        next = Add (fresh, old)
        tag = Identity (next)
    }>
}"""

# A maximum over a batch, and a guard for a batch without rows.
POOLED = """pooled (float[N, 4] x) => (float[4] y) <
    int64 zero = {0}, float[4] zeros = {0, 0, 0, 0}
> {
    shape = Shape (x)
    rows = Gather <axis = 0> (shape, zero)
    empty = Equal (rows, zero)
    y = If (empty) <
        then_branch = none () => (float[4] nothing) { nothing = Identity (zeros) },
        else_branch = some () => (float[4] most) { most = ReduceMax <axes = [0], keepdims = 0> (x) }
    >
}"""

MODELS = {
    "model": VOICE,
    "squeeze": SQUEEZE,
    "rows": ROWS,
    "search": SEARCH,
    "gate": GATE,
    "parts": PARTS,
    "decoder": DECODER,
}


def tagger() -> onnx.ModelProto:
    """The model of TAGGER, with its weights."""
    model = onnx.parser.parse_model(HEADER + TAGGER)
    rng = np.random.default_rng(0)
    arrays = {
        name: rng.normal(0, 0.2, (32, 32)).astype(np.float32)
        for name in ("wz", "wr", "wn", "uz", "ur", "un")
    }
    arrays["state_shape"] = np.array([1, 32])
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()
    )
    return model


def write(folder: Path) -> None:
    """Write every model into a folder, and an array for the input of one."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in MODELS.items():
        onnx.save(onnx.parser.parse_model(HEADER + text), folder / f"{name}.onnx")
    new = onnx.parser.parse_model(HEADER.replace("17", "18") + NEW)
    onnx.save(new, folder / "new.onnx")
    onnx.save(onnx.parser.parse_model(HEADER + POOLED), folder / "pooled.onnx")
    onnx.save(tagger(), folder / "tagger.onnx")
    np.save(folder / "rate.npy", np.array(16000, np.int64))


if __name__ == "__main__":
    where = Path(sys.argv[1] if sys.argv[1:] else ".")
    write(where)
    print(f"{', '.join(MODELS)}, pooled, tagger and new: .onnx files in {where}")
