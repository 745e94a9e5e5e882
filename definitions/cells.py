"""RNN, GRU and LSTM over the reals, by the equations of the operator specification.

Each direction is a Scan, whose body has one product for each gate and operand.
"""

from collections.abc import Sequence

from .case import Case
from .definition import Definition
from .fused_activations import activation

_CELLS = {
    "RNN": ("h", "h", ["Tanh"]),
    "GRU": ("zrh", "h", ["Sigmoid", "Tanh"]),
    "LSTM": ("iofc", "hc", ["Sigmoid", "Tanh", "Tanh"]),
}
"""Gates in the order of the weights, states, and default activations."""
_DIRECTIONS = {"forward": [0], "reverse": [1], "bidirectional": [0, 1]}
_PARAMETERS: dict[str, list[float]] = {
    **{name: [] for name in ("Relu", "Sigmoid", "Softsign", "Tanh")},
    **{"Elu": [1.0], "HardSigmoid": [0.2, 0.5], "LeakyRelu": [0.01]},
}
"""Activations with the defaults of their parameters; the others' are in dispute."""
_Functions = list[tuple[str, Sequence[float]]]


def _functions(case: Case, names: list[str], count: int) -> _Functions:
    """Activations of all directions with their parameters."""
    values, own = [[*(case[key] or ())] for key in ("alpha", "beta")], [*(case["names"] or ())]
    if not own or (own == ["Tanh", "Tanh"] and (names, count) == (["Tanh"], 1)):
        own = names * count  # RNN's default in the schema is one of two directions
    functions: _Functions = []
    for name in own:
        pairs = zip(_PARAMETERS.get(name, []), values, strict=False)
        functions.append((name, [rest.pop(0) if rest else default for default, rest in pairs]))
    if any(values) or len(own) != len(names) * count or not {*own} <= _PARAMETERS.keys():
        case.unfit("parameters of its activations are in dispute")
    return functions


def _split(name: str, own: str, axis: int, parts: list[str], size: int) -> str:
    sizes = [size] * len(parts)
    return f"{', '.join(parts)} = Split <axis = {axis}, split = {sizes}> ({name}{own})"


def _weights(case: Case, gates: str, hidden: int, at: int) -> str:
    """Matrices and biases of the gates of a direction."""
    words = []
    for name in "wr":
        words.append(f"{name}{at} = Gather <axis = 0> ({name}, {at})")
        words.append(f"{name}{at}T = Transpose <perm = [1, 0]> ({name}{at})")
        words.append(_split(name, f"{at}T", 1, [f"{name}{at}{g}" for g in gates], hidden))
    for name, parts in (("b", [f"{k}{{}}{g}" for k in "ab" for g in gates]), ("p", "iof")):
        if case.has(name):
            own = [k.format(at) if name == "b" else f"p{at}{k}" for k in parts]
            words.append(f"{name}{at} = Gather <axis = 0> ({name}, {at})")
            words.append(_split(name, f"{at}", 0, own, hidden))
    return "  ".join(words)


def _body(case: Case, gates: str, functions: _Functions, at: int) -> str:
    """Equations of one iteration, from the row e and the states h and c."""
    words = [f"{g}X = MatMul (e, w{at}{g})  {g}R = MatMul (h, r{at}{g})" for g in gates]
    use = dict(zip("fgh", functions, strict=False))

    def gate(name: str, function: str, state: str = "", inner: str = "") -> None:
        total, more = f"{name}X", [inner or f"{name}R"]
        more += [f"{k}{at}{name}" for k in ("a" if inner else "ab") if case.has("b")]
        if state and case.has("p"):
            words.append(f"{name}P = Mul (p{at}{name}, {state})")
            more.append(f"{name}P")
        for number, part in enumerate(more):
            words.append(f"{name}S{number} = Add ({total}, {part})")
            total = f"{name}S{number}"
        words.append(activation(*use[function], total, f"{name}F"))

    if gates == "h":
        gate("h", "f")
        return f"{'  '.join(words)}  hN = Identity (hF)"
    if gates == "iofc":
        gate("i", "f", "c")
        gate("f", "f", "c")
        gate("c", "g")
        words.append("kept = Mul (fF, c)  new = Mul (iF, cF)  cN = Add (kept, new)")
        gate("o", "f", "cN")
        return f"{'  '.join(words)}  {activation(*use['h'], 'cN', 'u')}  hN = Mul (oF, u)"
    gate("z", "f")
    gate("r", "f")
    if case["linear"]:
        words.append(f"hB = Add (hR, b{at}h)" if case.has("b") else "hB = Identity (hR)")
        words.append("hI = Mul (rF, hB)")
        gate("h", "g", inner="hI")
    else:
        words[2] = f"hX = MatMul (e, w{at}h)"
        words.append(f"rh = Mul (rF, h)  hR = MatMul (rh, r{at}h)")
        gate("h", "g")
    return f"""{"  ".join(words)}  rest = Sub (1.0, zF)  new = Mul (rest, hF)
        kept = Mul (zF, h)  hN = Add (new, kept)"""


def _cell(case: Case) -> str:
    """Nodes of a recurrent operator."""
    gates, states, names = _CELLS[case.signature.op.op_type]
    back, hidden = _DIRECTIONS.get(case["way"], []), case.known_size("r", 2)
    limits = [case["layout"], case.attributes.get("coupled"), case.has("lengths")]
    if any(limits) or case["clip"] is not None or not back:
        case.unfit("it has lengths of rows, limits, or another layout")
    functions = _functions(case, names, len(back))
    words = [
        f"""sizes = Shape (x)  batch = Slice <starts = [1], ends = [2], axes = [0]> (sizes)
        shape = Concat <axis = 0> (batch, [{hidden}])  zeros = Expand (0.0, shape)"""
    ]
    for at, is_back in enumerate(back):
        own, functions = functions[: len(names)], functions[len(names) :]
        for s in states:
            start = f"Gather <axis = 0> ({s}0, {at})" if case.has(f"{s}0") else "Identity (zeros)"
            words.append(f"{s}{at}F = {start}")
        words.append(f"""{_weights(case, gates, hidden, at)}
            {", ".join([f"{s}{at}L" for s in states])}, rows{at} = Scan <body = (
            {", ".join([f"float {s}" for s in (*states, "e")])}) =>
            ({", ".join([f"{s}N" for s in states])}, out) {{ {_body(case, gates, own, at)}
            out = Identity (hN) }}, num_scan_inputs = 1, scan_input_directions = [{is_back}],
            scan_output_directions = [{is_back}]> ({", ".join([f"{s}{at}F" for s in states])}, x)
            Y{at} = Unsqueeze <axes = [1]> (rows{at})""")
        words += [f"{s.upper()}{at} = Unsqueeze <axes = [0]> ({s}{at}L)" for s in states]
    for name in ("Y", *states.upper()):
        parts = ", ".join([f"{name}{at}" for at, _ in enumerate(back)])
        node = f"Concat <axis = {int(name == 'Y')}>" if back[1:] else "Identity"
        words.append(f"y{name.strip('Y')} = {node} ({parts})")
    return "  ".join(words)


def _definition(name: str, more: str, states: str, *peepholes: str) -> Definition:
    operands = ["x", "w", "r", "b?", "lengths?", *[f"{s}0?" for s in states], *peepholes]
    header = [f"{'int32' if k == 'lengths?' else 'float'} {k.strip('?')}" for k in operands]
    outputs = ", ".join(["y", *[f"y{s.upper()}" for s in states]])
    return Definition(
        f"""({", ".join(header)}) => ({outputs}) {{ {outputs} = {name} <
        activation_alpha = @alpha floats ?, activation_beta = @beta floats ?,
        activations = @names texts ?, clip = @clip float ?, direction = @way ? "forward",
        hidden_size = @hidden int ?, layout = @layout ? 0 {more}> ({", ".join(operands)}) }}""",
        _cell,
    )


CELLS = [
    _definition("RNN", "", "h"),
    _definition("GRU", ", linear_before_reset = @linear ? 0", "h"),
    _definition("LSTM", ", input_forget = @coupled ? 0", "hc", "p?"),
]
