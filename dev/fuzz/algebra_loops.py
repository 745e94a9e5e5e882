"""Loops whose states change by one algebra: sums, products, extremes, bounds, resets, choices.

Each body has one or two states and is put into Loops and Scans, with states of rank 0 to 2, of
which the last, all or the values before each iteration are read.
"""

from typing import NamedTuple

import numpy as np
import onnx

LENGTHS = (0, 1, 2, 3, 6, 19, 37)
FORMS = ("loop", "constant", "condition", "scan", "reverse")
ASKED = ("last", "all", "before")
TYPES = {"float": 1, "double": 11, "float16": 10, "int64": 7, "int32": 6, "bool": 9}
_SHAPES = ("", "[3]", "[2,2]")

_ROWS = {
    "float": {"p": "p = Sigmoid (f)", "k": "k = Less (e, f)", "u": "u = Exp (f)",
     "n": "n = Neg (f)"},
    "float16": {"v": "v = Cast <to = 10> (e)", "o": "o = Cast <to = 10> (f)"},
    "int64": {"v": "v = Cast <to = 7> (e)", "o": "o = Cast <to = 7> (f)", "k": "k = Less (e, f)",
     "j": "k = Less (e, f) j = Cast <to = 7> (k)"},
    "bool": {"q": "q = Less (e, f)", "k": "k = Less (f, half)"}}  # fmt: skip
"""Values of an iteration by name, from rows e and f and the flag g."""


class Body(NamedTuple):
    """The nodes of an iteration.

    Attributes:
        kind: the element type of the states.
        text: the nodes; `s2` and `t2` are the next values of `s` and `t`.
        states: the names of the states.
        others: the element types of states that differ.
    """

    kind: str
    text: str
    states: str = "s"
    others: str = ""


def _one(kind: str, **texts: str) -> dict[str, Body]:
    return {name: Body(kind, text) for name, text in texts.items()}


def _two(kind: str, **texts: str) -> dict[str, Body]:
    return {name: Body(kind, text, "st") for name, text in texts.items()}


BODIES: dict[str, Body] = {
    **_one(
        "float",
        total="s2 = Add (s, e)",
        difference="s2 = Sub (s, e)",
        alternating="s2 = Sub (e, s)",
        product="s2 = Mul (s, p)",
        quotient="a = Exp (p) s2 = Div (s, a)",
        largest="s2 = Max (s, e)",
        least_of_three="s2 = Min (e, s, f)",
        guarded_sum="a = Add (s, e) s2 = Where (g, a, s)",
        guarded_by_element="a = Sub (s, e) s2 = Where (k, s, a)",
        guarded_largest="a = Max (e, s) s2 = Where (g, a, s)",
        guarded_product="a = Mul (p, s) s2 = Where (k, a, s)",
        cusum="a = Add (s, e) s2 = Max (a, zero)",
        cusum_by_a_choice="a = Sub (s, e) h = Less (a, zero) s2 = Where (h, zero, a)",
        cusum_with_slack="a = Add (s, e) b = Sub (a, half) s2 = Relu (b)",
        max_plus="a = Add (s, e) s2 = Max (f, a)",
        min_plus="a = Add (e, s) s2 = Min (a, f)",
        decayed_largest="a = Mul (s, half) s2 = Max (a, e)",
        gated_largest="a = Mul (p, s) s2 = Max (e, a)",
        clamped="a = Add (s, e) b = Max (a, zero) s2 = Min (b, half)",
        clipped="a = Sub (e, s) s2 = Clip (a, zero, half)",
        leaky_and_clipped="a = Mul (s, half) b = Add (a, e) s2 = Clip (b, zero, half)",
        hard_sigmoid="a = Add (s, e) s2 = HardSigmoid <alpha = 0.3> (a)",
        median="a = Max (s, n) s2 = Min (a, u)",
        reset_sum="a = Add (s, e) s2 = Where (g, e, a)",
        reset_decay="a = Mul (s, half) b = Add (a, e) s2 = Where (k, zero, b)",
        reset_product="a = Mul (s, p) s2 = Where (g, e, a)",
        reset_product_by_element="a = Mul (s, p) s2 = Where (k, half, a)",
        reset_largest="a = Max (s, e) s2 = Where (k, f, a)",
        reset_held_clamped="a = Add (s, e) b = Relu (a) d = Where (g, f, b) s2 = Where (k, d, s)",
        linear="a = Mul (s, p) s2 = Add (a, e)",
        smoothed="a = Sub (e, s) b = Mul (a, half) s2 = Add (s, b)",
        gated="a = Sub (s, e) b = Mul (p, a) s2 = Add (e, b)",
        mean_of_both="s2 = Mean (s, e)",
        running_mean="a = Sub (e, s) b = Cast <to = 1> (i1) d = Div (a, b) s2 = Add (s, d)",
        held="s2 = Where (g, e, s)",
        held_by_element="s2 = Where (k, s, e)",
        flipped="a = Neg (s) s2 = Where (g, a, s)",
        halved="a = Mul (s, half) s2 = Where (k, a, s)",
        log_sum="a = Exp (s) b = Exp (e) d = Add (a, b) s2 = Log (d)",
        log_sum_scaled="m = Max (s, e) a = Sub (s, m) b = Sub (e, m) c1 = Exp (a) d = Exp (b)"
        " h = Add (c1, d) l = Log (h) s2 = Add (m, l)",
        log_sum_with_decay="s1 = Add (s, n) m = Max (s1, e) a = Sub (s1, m) b = Sub (e, m)"
        " c1 = Exp (a) d = Exp (b) h = Add (c1, d) l = Log (h) s2 = Add (l, m)",
        log_sum_plain_with_decay="s1 = Sub (s, half) a = Exp (s1) b = Exp (e) d = Add (a, b)"
        " s2 = Log (d)",
        log_sum_by_softplus="a = Sub (e, s) b = Softplus (a) s2 = Add (s, b)",
        log_sum_of_magnitudes="m = Max (s, e) a = Sub (s, e) b = Abs (a) h = Neg (b)"
        " l = Softplus (h) s2 = Add (m, l)",
        reset_log_sum="a = Sub (e, s) b = Softplus (a) d = Add (s, b) s2 = Where (k, f, d)",
        softplus_of_sum="a = Sub (s, e) s2 = Softplus (a)",
        better_of_sums="a = Add (s, e) b = Add (s, f) s2 = Max (a, b)",
        better_by_a_comparison="h = Greater (e, s) s2 = Where (h, e, s)",
        better_after_decay="a = Mul (s, half) h = Less (a, e) s2 = Where (h, e, a)",
        worse_where_allowed="h = Less (e, s) l = And (h, k) s2 = Where (l, e, s)",
        scaled_by_a_flag="a = Cast <to = 1> (g) b = Mul (s, a) s2 = Add (b, e)",
        masked_product="a = Where (k, p, half) s2 = Mul (a, s)",
        better_of_sum_and_row="a = Add (s, e) h = Greater (a, f) s2 = Where (h, a, f)",
        better_of_sums_by_a_comparison="a = Add (s, e) b = Add (s, f) h = Less (a, b)"
        " s2 = Where (h, b, a)",
        masked_bound="a = Add (s, e) b = Relu (a) h = Cast <to = 1> (k) s2 = Mul (b, h)",
        bound_of_either_sign="a = Max (s, e) b = Sub (p, half) s2 = Mul (a, b)",
        doubled="a = Add (s, s) b = Sub (a, s) d = Mul (b, k1) h = Div (d, k2) s2 = Add (h, e)",
        unchanged="s2 = Where (g, s, s)",
    ),
    **_one(
        "int64",
        count="s2 = Add (s, j)",
        whole_sum="s2 = Sub (s, v)",
        whole_product="s2 = Mul (s, v)",
        whole_largest="s2 = Max (s, v)",
        whole_linear="a = Mul (s, three) s2 = Add (a, v)",
        run_length="a = Add (s, one) s2 = Where (k, a, nought)",
        count_since="a = Add (s, one) s2 = Where (g, nought, a)",
        saturated_count="a = Add (s, j) s2 = Min (a, three)",
        saturated_up_and_down="a = Add (s, j) b = Sub (a, one) s2 = Max (b, nought)",
        wheel="a = Add (s, j) s2 = Mod (a, three)",
        last_index="s2 = Where (k, i, s)",
        last_index_of_all="s2 = Where (g, i, s)",
        first_index="h = Less (s, nought) l = And (h, k) s2 = Where (l, i, s)",
        hash="a = Mul (s, three) b = Add (a, v) s2 = Where (g, o, b)",
        whole_bounds="a = Max (s, v) s2 = Min (a, o)",
        saturated_from_anywhere="a = Add (s, one) s2 = Min (a, three)",
        counted_down="a = Sub (s, one) b = Max (a, nought) s2 = Where (k, three, b)",
        wheel_from_anywhere="a = Mul (s, three) b = Add (a, v) s2 = Mod (b, three)",
        guarded_wheel="a = Sub (s, j) b = Mod (a, three) s2 = Where (g, b, s)",
        clipped_count="a = Add (s, v) s2 = Clip (a, nought, three)",
        first_of_some="h = Less (s, nought) a = Where (k, v, s) s2 = Where (h, a, s)",
    ),
    **_one(
        "bool",
        any="s2 = Or (s, q)",
        all="s2 = And (q, s)",
        parity="s2 = Xor (s, q)",
        latch="a = And (s, k) s2 = Or (a, q)",
        flip_flop="a = Not (s) s2 = Where (q, a, s)",
        toggled_latch="a = Not (s) b = And (a, k) s2 = Or (b, q)",
        equal="s2 = Equal (s, q)",
        chosen_by_itself="a = And (s, q) b = Not (s) d = And (b, k) s2 = Or (a, d)",
        of_itself="a = Xor (s, q) b = Or (s, k) d = And (a, b) s2 = Not (d)",
    ),
    **_two(
        "float",
        rotation="a = Mul (s, k1) b = Mul (t, k2) s2 = Sub (a, b) d = Mul (s, k2)"
        " h = Mul (t, k1) l = Add (d, h) t2 = Add (l, e)",
        biquad="y = Add (e, s) a = Mul (y, k2) b = Sub (e, a) s2 = Add (b, t)"
        " d = Mul (y, k3) t2 = Add (e, d)",
        second_order="a = Mul (s, k1) b = Mul (t, k3) d = Add (a, b) s2 = Add (d, e)"
        " t2 = Identity (s)",
        second_order_by_rows="a = Mul (s, p) b = Mul (t, k3) d = Add (a, b) s2 = Add (d, e)"
        " t2 = Identity (s)",
        complex_product="a = Mul (s, p) b = Mul (t, k2) s2 = Sub (a, b) d = Mul (s, k2)"
        " h = Mul (t, p) t2 = Add (d, h)",
        viterbi="a = Add (s, e) b = Add (t, f) s2 = Max (a, b) d = Add (s, n) h = Add (t, e)"
        " t2 = Max (d, h)",
        viterbi_by_comparison="a = Add (s, e) b = Add (t, f) l = Greater (a, b)"
        " s2 = Where (l, a, b) d = Add (s, n) h = Add (t, e) t2 = Max (d, h)",
        shortest_path="a = Add (t, f) s2 = Min (a, e) t2 = Min (s, t)",
        bottleneck="a = Min (s, e) s2 = Max (a, t) b = Min (s, f) t2 = Max (b, n)",
        largest_products="a = Mul (s, p) b = Mul (t, u) s2 = Max (a, b) d = Mul (t, p)"
        " t2 = Max (d, u)",
        forward="a = Mul (s, p) b = Mul (t, u) d = Add (a, b) s2 = Mul (d, half)"
        " h = Mul (t, p) t2 = Add (h, s)",
        forward_in_logarithms="a = Add (s, e) b = Add (t, f) m = Max (a, b) a1 = Sub (a, m)"
        " b1 = Sub (b, m) a2 = Exp (a1) b2 = Exp (b1) d = Add (a2, b2) l = Log (d)"
        " s2 = Add (m, l) h = Add (s, n) h1 = Exp (h) l1 = Exp (t) l2 = Add (h1, l1)"
        " t2 = Log (l2)",
        guarded_viterbi="a = Add (s, e) b = Add (t, f) s1 = Max (a, b) d = Add (s, n)"
        " t1 = Max (d, t) s2 = Where (g, s1, s) t2 = Where (g, t1, t)",
        reset_trend="a = Add (s, t) b = Mul (a, k2) s1 = Add (b, e) d = Mul (t, k3)"
        " h = Mul (s, k1) t1 = Add (d, h) s2 = Where (k, e, s1) t2 = Where (k, f, t1)",
        growing="s2 = Add (s, t) a = Mul (s, half) t2 = Add (a, e)",
        viterbi_by_two_comparisons="a = Add (s, e) b = Add (t, f) l = Greater (a, b)"
        " s2 = Where (l, a, b) d = Add (s, n) h = GreaterOrEqual (t, d) t2 = Where (h, t, d)",
        swapped="s2 = Identity (t) t2 = Add (s, e)",
        swapped_by_a_condition="s2 = Where (g, t, s) t2 = Where (g, s, t)",
        exchange="s2 = Where (k, t, s) a = Where (k, s, t) t2 = Add (a, e)",
        online_softmax="s2 = Max (s, e) a = Sub (s, s2) b = Exp (a) d = Mul (t, b) h = Sub (e, s2)"
        " l = Exp (h) t2 = Add (d, l)",
        drawdown="s2 = Max (s, e) a = Sub (s2, e) t2 = Max (t, a)",
        best_interval="a = Add (s, e) s2 = Max (a, e) t2 = Max (t, s2)",
        momentum="a = Mul (s, half) s2 = Add (a, e) t2 = Add (t, s2)",
        variance="s2 = Add (s, e) a = Mul (e, e) t2 = Add (t, a)",
        delayed="s2 = Add (s, e) t2 = Identity (s)",
    ),
    **_two(
        "int64",
        fibonacci="s2 = Add (s, t) t2 = Identity (s)",
        pell="a = Mul (s, three) s2 = Sub (a, t) t2 = Add (s, v)",
        wheels="a = Add (s, t) s2 = Mod (a, three) b = Sub (t, j) t2 = Mod (b, three)",
        whole_bottleneck="a = Min (s, v) s2 = Max (a, t) b = Min (s, o) t2 = Max (b, v)",
        longest_run="a = Add (s, one) s2 = Where (k, a, nought) t2 = Max (t, s2)",
    ),
    **_two(
        "bool",
        shift_register="s2 = Xor (t, q) a = And (s, k) t2 = Xor (a, t)",
        reachable="a = And (s, q) s2 = Or (a, t) b = And (s, k) t2 = Or (b, q)",
    ),
    **_two(
        "float16",
        half_viterbi="a = Add (s, v) b = Add (t, o) s2 = Max (a, b) t2 = Max (t, v)",
        half_lag="d = Tanh (v) a = Mul (t, d) s2 = Add (a, o) t2 = Identity (s)",
    ),
    "half_linear": Body("float16", "d = Tanh (v) a = Mul (s, d) s2 = Add (a, o)"),
    "lag": Body("float", "s2 = Add (t, e) t2 = Identity (s)", "st"),
    "argument_of_largest": Body("float",
     "h = Greater (e, s) s2 = Where (h, e, s) t2 = Where (h, i, t)", "st", "t=int64"),
    "argument_of_least_last": Body("float",
     "h = Less (s, e) s2 = Where (h, s, e) t2 = Where (h, t, i)", "st", "t=int64"),
    "row_of_largest": Body("float",
     "h = GreaterOrEqual (e, s) s2 = Where (h, e, s) t2 = Where (h, f, t)", "st"),
    "found_first": Body("float", "a = Not (t) h = And (a, k) s2 = Where (h, e, s) t2 = Or (t, k)",
     "st", "t=bool"),
    "sum_until": Body("float", "t2 = Or (t, k) a = Add (s, e) s2 = Where (t2, s, a)", "st",
     "t=bool"),
    "mean_of_some": Body("float",
     "a = Add (s, e) s2 = Where (k, a, s) j = Cast <to = 7> (k) t2 = Add (t, j)", "st", "t=int64"),
}  # fmt: skip

FROM_ZERO = ("saturated_count", "saturated_up_and_down", "wheel")
"""The counters, which begin at small numbers: sums of any others may wrap."""


def model_of(name: str, form: str, rank: int, asked: str) -> str:
    """The text of a model with one loop."""
    body, shape = BODIES[name], _SHAPES[rank]
    kinds = dict.fromkeys(body.states, body.kind)
    kinds |= dict(pair.split("=") for pair in body.others.split())
    kinds = {state: f"{kind}{shape}" for state, kind in kinds.items()}
    asked_of = "s2" if asked == "all" else "s"
    nodes = f"{_rows(body)} {body.text}"
    row = f"float{shape}"
    rows = f"float[N,{shape[1:]}" if shape else "float[N]"
    states = "".join(f", {kind} {state}" for state, kind in kinds.items())
    results = ", ".join(f"{kind} {state}2" for state, kind in kinds.items())
    outputs = [f"{kind} {state}_last" for state, kind in kinds.items()]
    scanned = kinds["s"].replace("[", "[T,") if shape else f"{kinds['s']}[T]"
    if asked != "last":
        nodes += f" r = Identity ({asked_of})"
        results += f", {kinds['s']} r"
        outputs.append(f"{scanned} r_all")
    names = ", ".join(each.split(" ")[1] for each in outputs)
    starts = {state: f"{state}0" for state in kinds}
    if name in FROM_ZERO:
        starts["s"] = f"start{rank}"
    initial = ", ".join(starts.values())
    inputs = f"{rows} rows, {rows} others, bool[N] flags, int64 size"
    inputs += "".join(f", {kind} {state}0" for state, kind in kinds.items())
    if form in ("scan", "reverse"):
        directions = ", scan_input_directions = [1, 1, 1, 1]" if form == "reverse" else ""
        args = f"{states[2:]}, {row} e, {row} f, bool g, int64 i"
        call = f"Scan <num_scan_inputs = 4{directions}, body = b ({args}) => ({results})"
        call += f" {{ i1 = Add (i, one) {nodes} }}> ({initial}, rows, others, flags, numbers)"
    else:
        limit = {"loop": "size, yes", "constant": "count, yes", "condition": "most, some"}[form]
        goes = "c2 = Less (i1, size)" if form == "condition" else "c2 = Identity (c)"
        reads = "e = Gather (rows, i) f = Gather (others, i) g = Gather (flags, i)"
        call = f"Loop ({limit}, {initial}) <body = b (int64 i, bool c{states})"
        call += f" => (bool c2, {results}) {{ i1 = Add (i, one) {goes} {reads} {nodes} }}>"
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    constants = (
        "float half = {0.5}, float zero = {0}, int64 one = {1}, int64 three = {3}, bool yes = {1},"
        " int64 nought = {0}, int64 count = {37}, int64 most = {1000000}, int64 start0 = {0},"
        " int64[3] start1 = {0, 1, 2}, int64[2,2] start2 = {0, 1, 2, 3}, float k1 = {0.7},"
        " float k2 = {0.4}, float k3 = {-0.3}"
    )
    before = "some = Less (nought, size) numbers = Range (nought, size, one)"
    return (
        f"{head} g ({inputs}) => ({', '.join(outputs)}) <{constants}>"
        f" {{ {before} {names} = {call} }}"
    )


def _rows(body: Body) -> str:
    import re

    used = set(re.findall(r"\w+", body.text))
    own = [text for name, text in _ROWS[body.kind].items() if name in used]
    if any(text.startswith("k = Less (e, f) j") for text in own):
        own = [text for text in own if text != "k = Less (e, f)"]
    return " ".join(own)


def feeds(model: onnx.ModelProto, length: int, seed: int = 0) -> dict[str, np.ndarray]:
    """The inputs of a model for a number of iterations."""
    rng = np.random.default_rng(seed * 100 + length)
    fed = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        numbers = rng.normal(size=[dim.dim_value or length for dim in kind.shape.dim]) * 1.5
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        array = numbers > 0.3 if dtype == np.bool_ else np.round(numbers, 1).astype(dtype)
        fed[value.name] = np.array(length) if value.name == "size" else np.asarray(array)
    for state in ("s0", "t0"):
        if state in fed and fed[state].dtype == np.int64:
            fed[state] = np.full(fed[state].shape, -1 if state == "s0" else 2)
    return fed
