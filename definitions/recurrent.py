"""Recurrent operators of com.microsoft: quantized weights, attention to a memory.

Each direction is a Scan. The state of a sequence that ended stays, and its output is 0; a backward
direction turns each sequence within its length:

    lengths 2 and 3, forward   x0 x1 -    backward   x1 x0 -
                               x0 x1 x2              x2 x1 x0
"""

import functools
from collections.abc import Callable

from .attention import length_of
from .case import Case
from .fused_activations import activation
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}
_OF_LSTM = """activation_alpha = @alpha floats ?, activation_beta = @beta floats ?,
    activations = @activations texts ?, clip = @clip float ?, direction = @direction ? "forward",
    hidden_size = @hidden int ?, input_forget = @coupled ? 0"""
_GATES = ("i", "o", "f")


Nodes = Callable[[int], str]
"""The nodes of a direction, by its number."""


def _none(at: int) -> str:
    return ""


def _recurrent(case: Case, hidden: int, products: Nodes, step: Nodes, memory: Nodes = _none) -> str:
    """Nodes of an LSTM with outputs y, yH and yC.

    Args:
        case: the case, with operands x, b, lengths, h0, c0 and p.
        hidden: the size of the state.
        products: nodes of xM, the products of all inputs, with the number of the direction behind.
        step: nodes of sum, from a row g of these products with the bias and the state h.
        memory: nodes of all, the next state attended, from newH; none without such a state.
    """
    directions = {"forward": [0], "reverse": [1], "bidirectional": [0, 1]}.get(case["direction"])
    if directions is None:
        case.unfit(f"there is no direction '{case['direction']}'")
    names = [name.capitalize() for name in case["activations"] or ()]
    names = names or ["Sigmoid", "Tanh", "Tanh"] * len(directions)
    if len(names) != 3 * len(directions) or case["alpha"] or case["beta"]:
        case.unfit("parameters of activations have no definition")
    words = ["sizes = Shape (x)  batch = Slice <starts = [1], ends = [2], axes = [0]> (sizes)"]
    if case.has("lengths"):
        words.append("""count = Gather (sizes, 0)  steps = Range (0, count, 1)
            stepC = Unsqueeze <axes = [1]> (steps)  endsOf = Cast <to = 7> (lengths)
            leftRow = Sub (endsOf, stepC)  leftAll = Unsqueeze <axes = [2]> (leftRow)""")
    for at, back in enumerate(directions):
        cell = f"{step(at)} {_cell(case, hidden, at, names[3 * at : 3 * at + 3])} {memory(at)}"
        words += [products(at), _inputs(case, hidden, at), _scan(case, cell, at, back, memory)]
    all_of = {n: ", ".join(f"{n}{at}" for at in range(len(directions))) for n in "YHC"}
    return f"""{" ".join(words)} y = Concat <axis = 1> ({all_of["Y"]})
        yH = Concat <axis = 0> ({all_of["H"]})  yC = Concat <axis = 0> ({all_of["C"]})"""


def _inputs(case: Case, hidden: int, at: int) -> str:
    """Nodes of a direction's products with the bias, first states and peepholes."""
    words = [f"xG{at} = Identity (xM{at})"]
    if case.has("b"):
        words = [
            f"""b{at} = Gather <axis = 0> (b, {at})
            bW{at}, bR{at} = Split <axis = 0, split = {[4 * hidden] * 2}> (b{at})
            bias{at} = Add (bW{at}, bR{at})  xG{at} = Add (xM{at}, bias{at})"""
        ]
    for name in ("h0", "c0"):
        if case.has(name):
            words.append(f"{name}N{at} = Gather <axis = 0> ({name}, {at})")
        else:
            words.append(f"""{name}S{at} = Concat <axis = 0> (batch, [{hidden}])
                {name}F{at} = Expand (0.0, {name}S{at})
                {name}N{at} = Cast <to = {case.elem_type("x")}> ({name}F{at})""")
    if case.has("p"):
        words.append(f"""p{at} = Gather <axis = 0> (p, {at})
            pI{at}, pO{at}, pF{at} = Split <axis = 0, split = {[hidden] * 3}> (p{at})""")
    return " ".join(words)


def _cell(case: Case, hidden: int, at: int, names: list[str]) -> str:
    """Nodes of newC and newH from sum, the inputs of the gates, and c."""
    gate, inner, outer = (functools.partial(activation, name, ()) for name in names)
    limit = "Identity"
    if case["clip"]:
        limit = f"Clip <min = {-float(case['clip'])!r}, max = {float(case['clip'])!r}>"
    open_gates = {}
    for name in _GATES:
        open_gates[name] = f"{name}P = Identity ({name}S)"
        if case.has("p"):
            state = "newC" if name == "o" else "c"
            open_gates[name] = f"""{name}Q = Mul ({state}, p{name.upper()}{at})
                {name}P = Add ({name}S, {name}Q)"""
        open_gates[name] += f" {name}C = {limit} ({name}P)"
    forget = "f = Sub (1.0, i)" if case["coupled"] else f"{open_gates['f']} {gate('fC', 'f')}"
    return f"""iS, oS, fS, tS = Split <axis = 1, split = {[hidden] * 4}> (sum)
        {open_gates["i"]} {gate("iC", "i")} {forget} tC = {limit} (tS)  {inner("tC", "t")}
        kept = Mul (f, c)  new = Mul (i, t)  newC = Add (kept, new) {open_gates["o"]}
        {gate("oC", "o")} {outer("newC", "u")} newH = Mul (o, u)"""


def _scan(case: Case, cell: str, at: int, back: int, memory: Nodes) -> str:
    """Nodes of the Scan of a direction: Y, H and C with its number behind."""
    kind = {1: "float", 11: "double"}[case.elem_type("x")]
    states = ["h", "c", *(["attended"] if memory is not _none else [])]
    new = {"h": "newH", "c": "newC", "attended": "all"}
    rows, has_lengths = ["g"], case.has("lengths")
    ends = [f"next{name} = Identity ({new[name]})" for name in states] + ["out = Identity (newH)"]
    if has_lengths:
        rows.append("left")
        ends = ["isOn = Greater (left, 0)"] + [
            f"next{name} = Where (isOn, {new[name]}, {name})" for name in states
        ]
        ends.append("out = Where (isOn, newH, 0.0)")
    formal = [f"{kind} {name}" for name in (*states, "g")] + ["int64 left"] * has_lengths
    results = [*(f"next{name}" for name in states), "out"]
    first = [f"h0N{at}", f"c0N{at}", f"attended{at}"][: len(states)]
    last = [f"last{name}{at}" for name in states]
    turned, all_rows, turn = f"xG{at}", f"rows{at}", ""
    if back and has_lengths:
        # The kernel's rows that ended keep their last state, which takes part in quantization.
        turned, all_rows, back = f"xG{at}T", f"rows{at}T", 0
        way = "ReverseSequence <batch_axis = 1, time_axis = 0>"
        turn = f"{turned} = {way} (xG{at}, endsOf)"
    ways = f"""num_scan_inputs = {len(rows)}, scan_input_directions = {[back] * len(rows)},
        scan_output_directions = [{back}]"""
    final = f"rows{at} = {way} ({all_rows}, endsOf)" if turn else ""
    return f"""{turn} {", ".join(last)}, {all_rows} = Scan <body = ({", ".join(formal)}) =>
        ({", ".join(results)}) {{ {cell} {" ".join(ends)} }}, {ways}>
        ({", ".join([*first, turned, *(["leftAll"] if has_lengths else [])])})
        {final} Y{at} = Unsqueeze <axes = [1]> (rows{at})
        H{at} = Unsqueeze <axes = [0]> (lasth{at})  C{at} = Unsqueeze <axes = [0]> (lastc{at})"""


@defines(
    f"""(float x, byte w, byte r, float b, int32 lengths, float h0, float c0, float p,
    float wScale, byte wZero, float rScale, byte rZero) => (y, yH, yC) {{
    y, yH, yC = com.microsoft.DynamicQuantizeLSTM <{_OF_LSTM}>
    (x, w, r, b?, lengths?, h0?, c0?, p?, wScale, wZero, rScale, rZero) }}""",
    differs="each thread quantizes the state of its own rows in each step",
    **_FACTS,
)
def dynamic_quantize_lstm(case: Case) -> str:
    """An LSTM whose products are of integers."""
    before = "q, xScale, xZero = DynamicQuantizeLinear (x)"
    if case.has("lengths"):  # the steps after the longest sequence are not quantized
        before = f"""{length_of("x", 0, "xCount")} xSteps = Range (0, xCount, 1)
            longest = ReduceMax <axes = [0], keepdims = 1> (lengths)
            most = Cast <to = 7> (longest)  isUsed = Less (xSteps, most)
            isUsedU = Unsqueeze <axes = [1, 2]> (isUsed)  used = Where (isUsedU, x, 0.0)
            q, xScale, xZero = DynamicQuantizeLinear (used)"""

    def products(at: int) -> str:
        return f"""wX{at} = Gather <axis = 0> (w, {at})  wS{at} = Gather <axis = 0> (wScale, {at})
            wZ{at} = Gather <axis = 0> (wZero, {at})  rS{at} = Gather <axis = 0> (rScale, {at})
            rX{at} = Gather <axis = 0> (r, {at})  rZ{at} = Gather <axis = 0> (rZero, {at})
            xI{at} = MatMulInteger (q, wX{at}, xZero, wZ{at})  xF{at} = Cast <to = 1> (xI{at})
            xS{at} = Mul (xScale, wS{at})  xM{at} = Mul (xF{at}, xS{at})"""

    # The kernel reads the state in y, where it is 0 from the second step after an end on.
    is_read = case.has("lengths") and "y" in case.outputs
    open_ = "wasOn = Greater (left, -1)  hOpen = Where (wasOn, h, 0.0)"

    def step(at: int) -> str:
        return f"""{open_ if is_read else "hOpen = Identity (h)"}
            hQ, hScale, hZero = DynamicQuantizeLinear (hOpen)
            hI = MatMulInteger (hQ, rX{at}, hZero, rZ{at})  hF = Cast <to = 1> (hI)
            scale = Mul (hScale, rS{at})  hG = Mul (hF, scale)  sum = Add (g, hG)"""

    return f"{before} {_recurrent(case, case['hidden'] or case.known_size('r', 1), products, step)}"


@defines(
    f"""(floats x, floats w, floats r, floats b, int32 lengths, floats h0, floats c0, floats p,
    floats qW, floats mW, floats v, floats memory, int32 memoryLengths, floats aW)
    => (y, yH, yC) {{ y, yH, yC = com.microsoft.AttnLSTM <{_OF_LSTM}>
    (x, w, r, b?, lengths?, h0?, c0?, p?, qW, mW, v, memory, memoryLengths?, aW?) }}""",
    **_FACTS,
)
def attention_lstm(case: Case) -> str:
    """An LSTM that reads, beside its input, what its state attended to in a memory."""
    width = case.known_size("x", 2)
    total, kind = case.known_size("w", 2), case.elem_type("x")
    mask = ""
    if case.has("memoryLengths"):
        mask = """memorySizes = Shape (memory)  places0 = Gather (memorySizes, 1)
            places = Range (0, places0, 1)  ends = Cast <to = 7> (memoryLengths)
            endsC = Unsqueeze <axes = [1]> (ends)  isKnown = Less (places, endsC)"""

    def products(at: int) -> str:
        nodes = f"""wX{at} = Gather <axis = 0> (w, {at})  rX{at} = Gather <axis = 0> (r, {at})
            qX{at} = Gather <axis = 0> (qW, {at})  mX{at} = Gather <axis = 0> (mW, {at})
            vX{at} = Gather <axis = 0> (v, {at})  keys{at} = MatMul (memory, mX{at})
            vU{at} = Unsqueeze <axes = [1]> (vX{at})  rT{at} = Transpose <perm = [1, 0]> (rX{at})
            wI{at}, wA{at} = Split <axis = 1, split = {[width, total - width]}> (wX{at})
            wT{at} = Transpose <perm = [1, 0]> (wI{at})  aT{at} = Transpose <perm = [1, 0]> (wA{at})
            xM{at} = MatMul (x, wT{at})
            attended{at}S = Concat <axis = 0> (batch, [{total - width}])
            attended{at}F = Expand (0.0, attended{at}S)
            attended{at} = Cast <to = {kind}> (attended{at}F)"""
        return nodes + (f" aX{at} = Gather <axis = 0> (aW, {at})" if case.has("aW") else "")

    def step(at: int) -> str:
        return f"""hG = MatMul (h, rT{at})  aG = MatMul (attended, aT{at})
            gA = Add (g, aG)  sum = Add (gA, hG)"""

    def after(at: int) -> str:
        scores = "open = Where (isKnown, scores, -inf)" if mask else "open = Identity (scores)"
        layer = "all = Identity (context)"
        if case.has("aW"):
            layer = f"both = Concat <axis = 1> (newH, context)  all = MatMul (both, aX{at})"
        return f"""query = MatMul (newH, qX{at})  queryU = Unsqueeze <axes = [1]> (query)
            moved = Add (keys{at}, queryU)  bent = Tanh (moved)  scoresU = MatMul (bent, vU{at})
            scores = Squeeze <axes = [2]> (scoresU) {scores}
            weights = Softmax <axis = 1> (open)  weightsU = Unsqueeze <axes = [1]> (weights)
            contextU = MatMul (weightsU, memory)  context = Squeeze <axes = [1]> (contextU)
            {layer}"""

    hidden = case["hidden"] or case.known_size("r", 2)
    return f"{mask} {_recurrent(case, hidden, products, step, after)}"
