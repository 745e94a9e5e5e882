"""Loops with one recurrence, raised and compared: operators afterwards and numbers."""

import numpy as np
from harness import HEAD, as_model, assert_equal, op_types, run_in_onnxruntime, run_passes
from sessions import by_reference
from straightline.passes import RaiseRecurrences

LENGTHS = (0, 1, 2, 5, 40)


def loop(body, states, outputs="", inputs="float[N, 3] x, int64 n", opset=17):
    """A Loop of n iterations that reads row e of x.

    Args:
        body: the nodes; `t2` is the next value of a state `t`.
        states: each state with its type and initial value: "float[3] s = s0".
        outputs: the scan outputs with their types: "float[3] r".
    """
    parts = [each.replace("=", " ").split() for each in states.split(";")]
    declared = "".join(f", {kind} {name}" for kind, name, _ in parts)
    nexts = "".join(f", {kind} {name}2" for kind, name, _ in parts)
    nexts += "".join(f", {each.strip()}" for each in outputs.split(";") if each.strip())
    scanned = [each.split() for each in outputs.split(";") if each.strip()]
    finals = [f"{name}_last" for _, name, _ in parts] + [f"{name}_all" for _, name in scanned]
    typed = [f"{kind} {name}_last" for kind, name, _ in parts]
    typed += [f"{_rows(kind)} {name}_all" for kind, name in scanned]
    initial = "".join(f", {start}" for _, _, start in parts)
    asked = ", ".join(typed)
    head = HEAD.replace('"" : 17', f'"" : {opset}')
    return f"""{head}g ({inputs}{"".join(f", {k} {s}" for k, _, s in parts)}) => ({asked})
        <bool yes = {{1}}, int64 one = {{1}}, float half = {{0.5}}, float nil = {{0}}> {{
        {", ".join(finals)} = Loop (n, yes{initial}) <body = b (int64 i, bool c{declared})
            => (bool c2{nexts}) {{ c2 = Identity (c) e = Gather (x, i) {body} }}> }}"""


def _rows(kind):
    elem, _, shape = kind.partition("[")
    return f"{elem}[T, {shape}" if shape else f"{elem}[T]"


def raised(text, kept=("Loop", "Scan")):
    """The model after the pass, which must leave none of some operators."""
    result = run_passes(text, RaiseRecurrences())
    assert not {node.op_type for node in result.model.graph.node} & set(kept), result.remarks
    return result.model


def reason(text):
    """The remark on a recurrence that stays."""
    result = run_passes(text, RaiseRecurrences())
    assert not result.changed, op_types(result.model)
    return result.kept[0].reason


def numbers(length, special=(), dtype=np.float32, seed=0):
    """Rows of x, with special values in some places."""
    rng = np.random.default_rng(seed + length)
    x = np.round(rng.normal(size=(length, 3)) * 2, 1).astype(dtype)
    places = rng.integers(0, max(1, x.size), len(special))
    if x.size:
        x.reshape(-1)[places] = special
    return x


def assert_same(text, model, x, exact=False, **fed):
    """Check that the reference and onnxruntime each give what they gave before."""
    feeds, original = {"x": x, "n": np.array(len(x)), **fed}, as_model(text)
    for run in (by_reference, run_in_onnxruntime):
        for one, other in zip(run(model, feeds), run(original, feeds), strict=True):
            assert_equal(one, other)
            if exact:
                np.testing.assert_array_equal(one, other)
