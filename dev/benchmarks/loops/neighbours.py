"""Distances to many rows: nearest neighbours, clusters, kernels. skl2onnx writes them as Scans."""

import functools

import numpy as np

from .case import Case

_SMALL = {"N": 2, "M": 5, "D": 3, "K": 2, "C": 2}

# What skl2onnx writes for the distances of rows X to the rows of a training set: the rows X are
# carried along and the training rows are scanned.
_CDIST = """
   rows, far_t = Scan <num_scan_inputs = 1, body = cdist
      (float[R, $D] next_in, float[$D] next) => (float[R, $D] next_out, float[R] scan_out) {
      next_out = Identity (next_in)
      cdistdiff = Sub (next_in, next)
      scan_out = ReduceSumSquare <axes = [1], keepdims = 0> (cdistdiff)
   }> (X, training)
   far = Transpose <perm = [1, 0]> (far_t)"""
_AT_ONCE = """
   one = Unsqueeze (X, second)
   off = Sub (one, training)
   far = ReduceSumSquare <axes = [2], keepdims = 0> (off)"""

_CLASSIFIER = """classifier (float[N, $D] X) => (int64[N] label, float[N, $K] distance)
   <int64[1] k = {$K}, int64[1] second = {1}> {DISTANCES
   roots = Sqrt (far)
   distance, place = TopK <axis = 1, largest = 0> (roots, k)
   votes = Gather <axis = 0> (labels, place)
   ones = OneHot <axis = -1> (votes, classes, off_on)
   counts = ReduceSum <keepdims = 0> (ones, second)
   label = ArgMax <axis = 1, keepdims = 0> (counts)
}"""
_CLASSIFIER_WEIGHTS = {
    "training": lambda s, g: g.standard_normal((s["M"], s["D"])).astype(np.float32),
    "labels": lambda s, g: g.integers(0, s["C"], s["M"]),
    "classes": lambda s, _: np.array(s["C"], np.int64),
    "off_on": lambda *_: np.array([0, 1], np.float32),
}

_case = functools.partial(Case, feeds={"X": "N D"}, small=_SMALL, true_recurrence=False)

one_row = _case(
    name="nearest_neighbours_one_row",
    model=_CLASSIFIER.replace("DISTANCES", _CDIST),
    best=_CLASSIFIER.replace("DISTANCES", _AT_ONCE),
    weights=_CLASSIFIER_WEIGHTS,
    sizes={"N": 1, "M": 2000, "D": 16, "K": 5, "C": 4},
)

many_rows = _case(
    name="nearest_neighbours_64_rows",
    model=_CLASSIFIER.replace("DISTANCES", _CDIST),
    best=_CLASSIFIER.replace("DISTANCES", _AT_ONCE),
    weights=_CLASSIFIER_WEIGHTS,
    sizes={"N": 64, "M": 2000, "D": 16, "K": 5, "C": 4},
)

manhattan = _case(
    name="nearest_neighbours_manhattan",
    model=_CLASSIFIER.replace(
        "DISTANCES",
        _CDIST.replace(
            "ReduceSumSquare <axes = [1], keepdims = 0>", "ReduceL1 <axes = [1], keepdims = 0>"
        ),
    ),
    best=_CLASSIFIER.replace("DISTANCES", _AT_ONCE.replace("ReduceSumSquare", "ReduceL1")),
    weights=_CLASSIFIER_WEIGHTS,
    sizes={"N": 4, "M": 1000, "D": 16, "K": 5, "C": 4},
)

_REGRESSOR = """
regressor (float[N, $D] X) => (float[N] y) <int64[1] k = {$K}, int64[1] second = {1}> {DISTANCES
   negative = Neg (far)
   best, place = TopK <axis = 1> (negative, k)
   values = Gather <axis = 0> (targets, place)
   y = ReduceMean <axes = [1], keepdims = 0> (values)
}"""
_REGRESSOR_WEIGHTS = {
    "training": lambda s, g: g.standard_normal((s["M"], s["D"])).astype(np.float32),
    "targets": "M",
}

nested_scans = _case(
    name="nearest_neighbours_scan_in_scan",
    model=_REGRESSOR.replace(
        "DISTANCES",
        """
   far = Scan <num_scan_inputs = 1, body = query (float[$D] q) => (float[$M] row) {
      row = Scan <num_scan_inputs = 1, body = pair (float[$D] t) => (float d) {
         off = Sub (q, t)
         squares = Mul (off, off)
         d = ReduceSum <keepdims = 0> (squares)
      }> (training)
   }> (X)""",
    ),
    best=_REGRESSOR.replace("DISTANCES", _AT_ONCE),
    weights=_REGRESSOR_WEIGHTS,
    sizes={"N": 4, "M": 500, "D": 16, "K": 5},
)

_CLUSTERS = """clusters (float[N, $D] x) => (int64[N] label, float[N] score) """

k_means = _case(
    name="k_means_assignment",
    model=_CLUSTERS
    + """<int64 zero = {0}, bool always = {1}> {
   shape = Shape (x)
   length = Gather <axis = 0> (shape, zero)
   label, score = Loop (length, always) <body = row (int64 i, bool cond)
      => (bool again, int64 nearest, float least) {
      e = Gather <axis = 0> (x, i)
      off = Sub (centres, e)
      squares = Mul (off, off)
      sums = ReduceSum <keepdims = 0> (squares, second)
      nearest = ArgMin <axis = 0, keepdims = 0> (sums)
      smallest = ReduceMin <axes = [0], keepdims = 0> (sums)
      least = Sqrt (smallest)
      again = Identity (cond)
   }>
}""",
    best=_CLUSTERS
    + """<int64[1] third = {2}> {
   rows = Unsqueeze (x, second)
   off = Sub (centres, rows)
   squares = Mul (off, off)
   sums = ReduceSum <keepdims = 0> (squares, third)
   label = ArgMin <axis = 1, keepdims = 0> (sums)
   smallest = ReduceMin <axes = [1], keepdims = 0> (sums)
   score = Sqrt (smallest)
}""",
    feeds={"x": "N D"},
    weights={"centres": "C D", "second": lambda *_: np.ones(1, np.int64)},
    sizes={"N": 500, "D": 8, "C": 16},
)

k_means_columns = _case(
    name="k_means_over_centres",
    model="""clusters (float[N, $D] X) => (int64[N] label) <int64[1] second = {1}> {
   rows, far_t = Scan <num_scan_inputs = 1, body = cdist
      (float[R, $D] next_in, float[$D] next) => (float[R, $D] next_out, float[R] scan_out) {
      next_out = Identity (next_in)
      cdistdiff = Sub (next_in, next)
      scan_out = ReduceSumSquare <axes = [1], keepdims = 0> (cdistdiff)
   }> (X, centres)
   label = ArgMin <axis = 0, keepdims = 0> (far_t)
}""",
    best=f"""clusters (float[N, $D] X) => (int64[N] label) <int64[1] second = {{1}}> {{
   {_AT_ONCE.replace("training", "centres")}
   label = ArgMin <axis = 1, keepdims = 0> (far)
}}""",
    weights={"centres": "C D"},
    sizes={"N": 100, "D": 8, "C": 64},
)

# A kernel of exp(-|x - t|^2 / 2), the rows scaled by the length first.
_KERNEL = """
   X = Div (x, length)
   DISTANCES
   scaled = Mul (far, minus_half)
   kernel = Exp (scaled)"""
_PROCESS_WEIGHTS = {"training": "M D", "alpha": "M", "mean": lambda *_: np.array(0.5, np.float32)}

process = _case(
    name="gaussian_process_one_row",
    model=f"""
process (float[N, $D] x) => (float[N] y) <float length = {{0.7}}, float minus_half = {{-0.5}}> {{
   {_KERNEL.replace("DISTANCES", _CDIST)}
   product = MatMul (kernel, alpha)
   y = Add (product, mean)
}}""",
    best=f"""process (float[N, $D] x) => (float[N] y)
   <float length = {{0.7}}, float minus_half = {{-0.5}}, int64[1] second = {{1}}> {{
   {_KERNEL.replace("DISTANCES", _AT_ONCE)}
   product = MatMul (kernel, alpha)
   y = Add (product, mean)
}}""",
    feeds={"x": "N D"},
    weights=_PROCESS_WEIGHTS,
    sizes={"N": 1, "M": 1000, "D": 8},
)

deviation = _case(
    name="gaussian_process_with_deviation",
    model=f"""process (float[N, $D] x) => (float[N] y, float[N] spread)
   <float length = {{0.7}}, float minus_half = {{-0.5}}, float prior = {{1.5}},
    int64[1] axis = {{1}}> {{
   {_KERNEL.replace("DISTANCES", _CDIST)}
   product = MatMul (kernel, alpha)
   y = Add (product, mean)
   solved = MatMul (kernel, inverse)
   squares = Mul (solved, kernel)
   explained = ReduceSum <keepdims = 0> (squares, axis)
   variance = Sub (prior, explained)
   safe = Abs (variance)
   spread = Sqrt (safe)
}}""",
    best=f"""process (float[N, $D] x) => (float[N] y, float[N] spread)
   <float length = {{0.7}}, float minus_half = {{-0.5}}, float prior = {{1.5}},
    int64[1] second = {{1}}> {{
   {_KERNEL.replace("DISTANCES", _AT_ONCE)}
   product = MatMul (kernel, alpha)
   y = Add (product, mean)
   solved = MatMul (kernel, inverse)
   squares = Mul (solved, kernel)
   explained = ReduceSum <keepdims = 0> (squares, second)
   variance = Sub (prior, explained)
   safe = Abs (variance)
   spread = Sqrt (safe)
}}""",
    feeds={"x": "N D"},
    weights={
        **_PROCESS_WEIGHTS,
        "inverse": lambda s, g: (np.eye(s["M"]) / s["M"]).astype(np.float32),
    },
    sizes={"N": 64, "M": 500, "D": 8},
)

CASES = (one_row, many_rows, manhattan, nested_scans, k_means, k_means_columns, process, deviation)
