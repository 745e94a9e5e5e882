from harness import HEAD, assert_keeps, assert_rewrites, run_passes
from row_pairs import MANY, PAIRS, pairs
from straightline.passes import BlockLoops, LoopsToScans, RaiseRecurrences, VectorizeLoops
from tables import table


def test_rows_of_fixed_size():
    before = PAIRS.replace("float[N, D] x, float[M, D] w", "float[9, 3] x, float[2, 3] w")
    assert_rewrites(
        MANY,
        before.replace("float[N] y", "float[9] y"),
        """g (float[9, 3] x, float[2, 3] w) => (float[9] y) <bool yes = {1}, int64 zero = {0},
            int64[1] axes = {0}, int64 k = {1}, int64 k_1 = {4}, bool holds = {1},
            int64 k_2 = {0}, int64 k_3 = {1}, int64[1] k_4 = {-1}> {
            s = Shape (x) n = Gather (s, zero) vector = Unsqueeze (n, axes)
            last = Sub (n, k) padded = Add (last, k_1) blocks = Div (padded, k_1)
            some = Max (blocks, k) full = Div (last, some) block = Add (full, k)
            block_1 = Max (block, k) numbers = Range (k_2, block_1, k_3)
            y_blocks = Loop (blocks, holds) <body = b (int64 block_number, bool holds_1)
                => (bool holds_2, float[?] r) <int64 k_5 = {0}, int64[1] axes_1 = {1}> {
                start = Mul (block_number, block_1) places = Add (start, numbers)
                places_1 = Min (last, places) places_2 = Max (places_1, k_5)
                e = Gather <axis = 0> (x, places_2)
                e_lifted = Unsqueeze (e, axes_1) d = Sub (w, e_lifted)
                r = ReduceMax <keepdims = 0, axes = [1, 2]> (d) holds_2 = Identity (holds_1) }>
            y_blocks_1 = Reshape (y_blocks, k_4) y = Slice (y_blocks_1, axes, vector, axes) }""",
        [pairs(9)],
    )


def test_no_other_pass_vectorizes_blocks():
    model = run_passes(PAIRS, MANY).model
    result = run_passes(model, VectorizeLoops(), RaiseRecurrences(), LoopsToScans(), MANY)
    assert not result.changed
    assert "it computes a block of iterations at once, within memory" in {
        remark.reason for remark in result.kept
    }


STATE = """g (float[9, 3] x, float[2, 3] w) => (float[2, 3] y) {
    y = Scan <num_scan_inputs = 1, body = b (float[2, 3] s, float[3] e) => (float[2, 3] r) {
        f = Tanh (s) r = Add (f, e) }> (w, x) }"""


@table(
    (HEAD + STATE, 96, "it carries 's', on which all values depend"),
    (HEAD + PAIRS.replace("N, D", "9, 3").replace("M, D", "2, 3"), 24, "of 24 bytes on each"),
    (HEAD + PAIRS.replace("N, D", "4, 3").replace("M, D", "2, 3"), 192, "of 24 bytes on each"),
    (HEAD.replace("17", "11") + PAIRS, 96, "is of opset 11; convert to 12 first"),
    (HEAD + PAIRS.replace("Identity (c)", "Not (c)"), 96, "its body decides when it ends"),
    ids=["state", "large rows", "few iterations", "opset", "condition"],
)
def test_kept_loops_and_their_reasons(text, block, reason):
    assert_keeps(BlockLoops(block_bytes=block), text, reason)
