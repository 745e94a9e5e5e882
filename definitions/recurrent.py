"""Recurrent operators of com.microsoft with quantized weights."""

from __future__ import annotations

from .case import Case
from .registry import defines

_BEFORE = """(float x, byte w, byte r, float b, int32 lengths, float h0, float c0, float p,
    float wScale, byte wZero, float rScale, byte rZero) => (y, yH, yC) {
    y, yH, yC = com.microsoft.DynamicQuantizeLSTM <activation_alpha = @alpha ?,
    activation_beta = @beta ?, activations = @activations ?, clip = @clip ?,
    direction = @direction ? "forward", hidden_size = @hidden ?, input_forget = @coupled ? 0>
    (x, w, r, b?, lengths?, h0?, c0?, p?, wScale, wZero, rScale, rZero) }"""


@defines(
    _BEFORE,
    source="docs/ContribOperators.md",
    tried="onnxruntime 1.32.0",
    differs="each thread quantizes the state of its own rows in each step",
)
def dynamic_quantize_lstm(case: Case) -> str:
    """An LSTM whose products are of integers: a Scan for each direction."""
    if case.has("lengths") or case["clip"] or case["coupled"]:
        case.unfit("lengths, clip and coupled gates have no definition")
    directions = {"forward": [0], "reverse": [1], "bidirectional": [0, 1]}.get(case["direction"])
    if directions is None:
        case.unfit(f"there is no direction '{case['direction']}'")
    names = [name.lower() for name in case["activations"] or ()]
    if names not in ([], ["sigmoid", "tanh", "tanh"] * len(directions)):
        case.unfit("only sigmoid, tanh and tanh have a definition")
    hidden = case["hidden"] or case.known_size("r", 1)
    parts = [_direction(case, place, back, hidden) for place, back in enumerate(directions)]
    shape = """q, xScale, xZero = DynamicQuantizeLinear (x)  sizes = Shape (x)
        batch = Slice <starts = [1], ends = [2], axes = [0]> (sizes)"""
    all_of = {name: ", ".join(f"{name}{place}" for place in range(len(parts))) for name in "YHC"}
    return f"""{shape} {" ".join(parts)} y = Concat <axis = 1> ({all_of["Y"]})
        yH = Concat <axis = 0> ({all_of["H"]})  yC = Concat <axis = 0> ({all_of["C"]})"""


def _direction(case: Case, place: int, back: int, hidden: int) -> str:
    """Nodes of one direction, with its number behind their names."""
    picked = ["w", "r", "wScale", "wZero", "rScale", "rZero", *(["b"] if case.has("b") else [])]
    nodes = [f"{name}{place} = Gather <axis = 0> ({name}, {place})" for name in picked]
    for name in ("h0", "c0"):
        if case.has(name):
            nodes.append(f"{name}N{place} = Gather <axis = 0> ({name}, {place})")
        else:
            nodes.append(f"""{name}S{place} = Concat <axis = 0> (batch, [{hidden}])
                {name}N{place} = Expand (0.0, {name}S{place})""")
    bias = f"xG{place} = Identity (xM{place})"
    if case.has("b"):
        bias = f"""bW{place}, bR{place} = Split <axis = 0, split = {[4 * hidden] * 2}> (b{place})
            bias{place} = Add (bW{place}, bR{place})  xG{place} = Add (xM{place}, bias{place})"""
    hole = ["i", "o", "f"]
    peep = {gate: f"{gate}P = Identity ({gate}S)" for gate in hole}
    if case.has("p"):
        nodes.append(f"""p{place} = Gather <axis = 0> (p, {place})
            pI{place}, pO{place}, pF{place} = Split <axis = 0, split = {[hidden] * 3}>
                (p{place})""")
        for gate in hole:
            state = "next" if gate == "o" else "c"
            peep[gate] = f"""{gate}Q = Mul ({state}, p{gate.upper()}{place})
                {gate}P = Add ({gate}S, {gate}Q)"""
    body = f"""body = (float h, float c, float g) => (nextH, nextC, out) {{
        hQ, hScale, hZero = DynamicQuantizeLinear (h)
        hI = MatMulInteger (hQ, r{place}, hZero, rZero{place})  hF = Cast <to = 1> (hI)
        scale = Mul (hScale, rScale{place})  hG = Mul (hF, scale)  sum = Add (g, hG)
        iS, oS, fS, tS = Split <axis = 1, split = {[hidden] * 4}> (sum)
        {peep["i"]} i = Sigmoid (iP) {peep["f"]} f = Sigmoid (fP)  t = Tanh (tS)
        kept = Mul (f, c)  new = Mul (i, t)  next = Add (kept, new) {peep["o"]}
        o = Sigmoid (oP)  u = Tanh (next)  nextH = Mul (o, u)
        nextC = Identity (next)  out = Identity (nextH) }}"""
    way = (
        f"num_scan_inputs = 1, scan_input_directions = [{back}], scan_output_directions = [{back}]"
    )
    return f"""{" ".join(nodes)}
        xI{place} = MatMulInteger (q, w{place}, xZero, wZero{place})
        xF{place} = Cast <to = 1> (xI{place})
        xS{place} = Mul (xScale, wScale{place})  xM{place} = Mul (xF{place}, xS{place}) {bias}
        lastH{place}, lastC{place}, rows{place} = Scan <{body}, {way}>
            (h0N{place}, c0N{place}, xG{place})
        Y{place} = Unsqueeze <axes = [1]> (rows{place})
        H{place} = Unsqueeze <axes = [0]> (lastH{place})
        C{place} = Unsqueeze <axes = [0]> (lastC{place})"""
