import itertools

import numpy as np
import onnx
import pytest
from cells import Spelling
from harness import as_model, run_in_onnxruntime
from proofs import is_proved, over_reals
from sessions import by_reference
from straightline import rewrite
from straightline.verification.proof import prove
from tables import table

T, B, WIDTH, H = 3, 2, 3, 4
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
BACKWARD = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


class Layer:
    """An operator, and its equations as Scans.

    Args:
        op_type: the operator.
        direction: its attribute.
        functions: activations of one direction.
        attributes: text of further attributes.
        absent: inputs that are absent, of B (bias), h, c, P.
        length: length of the sequence.
    """

    def __init__(
        self, op_type, direction="forward", functions=None, attributes="", absent="P", length=T
    ):
        self.op_type, self.direction, self.attributes = op_type, direction, attributes
        self.functions = functions or FUNCTIONS[op_type]
        self.absent = absent + ("" if op_type == "LSTM" else "cP")
        self.by_batch, self.length = "layout" in attributes, length
        self.sides = BACKWARD[direction]
        self.states = "hc" if op_type == "LSTM" else "h"

    @property
    def shapes(self):
        """Shapes of the inputs by name."""
        count, gates = len(self.sides), GATES[self.op_type]
        state = (B, count, H) if self.by_batch else (count, B, H)
        rows = (B, self.length, WIDTH) if self.by_batch else (self.length, B, WIDTH)
        shapes = {"X": rows, "W": (count, gates * H, WIDTH), "R": (count, gates * H, H)}
        shapes |= {"B": (count, 2 * gates * H), "h": state, "c": state, "P": (count, 3 * H)}
        return {name: shape for name, shape in shapes.items() if name not in self.absent}

    def model(self, nodes):
        """Model of nodes that compute Y, and the last states."""
        names = [*self.shapes]
        inputs = ", ".join(f"float[{', '.join(map(str, s))}] {n}" for n, s in self.shapes.items())
        outputs = ", ".join(["float[a, b, c, d] Y", *(f"float[e, f, g] Y{s}" for s in self.states)])
        constants = (
            "<float one = {1}, int64[1] first = {0}, int64[1] second = {1}, int64 zero = {0}, "
            "int64 next = {1}>"
        )
        head = '<ir_version: 8, opset_import: ["" : 17]> g '
        assert names[0] == "X"
        return onnx.parser.parse_model(f"{head}({inputs}) => ({outputs}) {constants} {{ {nodes} }}")

    def operator(self, direction=None, attributes=None):
        """Model of the operator."""
        names = ["X", "W", "R", "B", None, "h", "c", "P"]
        inputs = ", ".join("" if n is None or n in self.absent else n for n in names).rstrip(", ")
        listed = list(self.functions) * len(self.sides)
        text = ", ".join(f'"{name}"' for name in listed)
        direction = direction or self.direction
        outputs = ", ".join(["Y", *(f"Y{s}" for s in self.states)])
        fields = f'hidden_size = {H}, direction = "{direction}", activations = [{text}]'
        fields += self.attributes if attributes is None else attributes
        return self.model(f"{outputs} = {self.op_type} <{fields}> ({inputs})")

    def equations(self, change=lambda nodes: nodes):
        """Model of the equations, with a change of the nodes of an iteration."""
        turn = "x = Transpose <perm = [1, 0, 2]> (X)" if self.by_batch else "x = Identity (X)"
        lines = [turn, *(line for d in range(len(self.sides)) for line in self.side(d, change))]
        for name in ("Y", *(f"Y{s}" for s in self.states)):
            axis = {("Y", False): 1, ("Y", True): 2}.get((name, self.by_batch), int(self.by_batch))
            parts = ", ".join(f"{name}{d}" for d in range(len(self.sides)))
            lines.append(f"{name} = Concat <axis = {axis}> ({parts})")
        return self.model("\n".join(lines))

    def side(self, d, change):
        """Nodes of one direction."""
        gates = GATES[self.op_type]
        names = "".join("zrh" if gates == 3 else "iofc" if gates == 4 else "i")
        place = "zero" if d == 0 else "next"
        for weight in "WR":
            yield f"{weight}{d} = Gather <axis = 0> ({weight}, {place})"
            parts = ", ".join(f"{weight}{g}_{d}" for g in names)
            if gates == 1:
                yield f"{parts} = Identity ({weight}{d})"
            else:
                yield f"{parts} = Split <axis = 0> ({weight}{d})"
            for g in names:
                yield f"{weight}{g}{d} = Transpose <perm = [1, 0]> ({weight}{g}_{d})"
        if "B" not in self.absent:
            yield f"B{d} = Gather <axis = 0> (B, {place})"
            yield (
                ", ".join(f"{k}{g}{d}" for k in "UV" for g in names) + f" = Split <axis = 0> (B{d})"
            )
        if "P" not in self.absent:
            yield f"P{d} = Gather <axis = 0> (P, {place})"
            yield f"Pi{d}, Po{d}, Pf{d} = Split <axis = 0> (P{d})"
        for s in self.states:
            if s in self.absent:
                yield f"size{s}{d} = Constant <value = int64[2] {{{B}, {H}}}> ()"
                yield f"{s}{d} = ConstantOfShape (size{s}{d})"
            else:
                yield f"{s}{d} = Gather <axis = {int(self.by_batch)}> ({s}, {place})"
        body = change(f" {getattr(self, self.op_type)(str(d))} ")
        types = ", ".join(f"float[{B}, {H}] {s}" for s in self.states)
        after = ", ".join(f"float[{B}, {H}] {s}n" for s in self.states)
        order = int(self.sides[d])
        ends = ", ".join(f"end{s}{d}" for s in self.states)
        starts = ", ".join(f"{s}{d}" for s in self.states)
        yield (
            f"{ends}, every{d} = Scan <num_scan_inputs = 1, scan_input_directions = [{order}], "
            f"scan_output_directions = [{order}], body = step ({types}, float[{B}, {WIDTH}] e) => "
            f"({after}, float[{B}, {H}] out) {{ {body} out = Identity (hn) }}> ({starts}, x)"
        )
        yield f"rows{d} = Unsqueeze (every{d}, second)"
        turned = "Transpose <perm = [2, 0, 1, 3]>" if self.by_batch else "Identity"
        yield f"Y{d} = {turned} (rows{d})"
        for s in self.states:
            axis = "second" if self.by_batch else "first"
            yield f"Y{s}{d} = Unsqueeze (end{s}{d}, {axis})"

    def gate(self, g, d, peephole=""):
        """Sum of a gate."""
        yield f"x{g} = MatMul (e, W{g}{d}) k{g} = MatMul (h, R{g}{d}) s{g} = Add (k{g}, x{g})"
        total = f"s{g}"
        if peephole and "P" not in self.absent:
            yield f"p{g} = Mul ({peephole}, P{g}{d}) q{g} = Add (p{g}, {total})"
            total = f"q{g}"
        if "B" not in self.absent:
            yield f"u{g} = Add (U{g}{d}, {total}) v{g} = Add (u{g}, V{g}{d})"
            total = f"v{g}"
        yield f"t{g} = Identity ({total})"

    def RNN(self, d):
        f = self.functions[0]
        return " ".join([*self.gate("i", d), f"hn = {f} (ti)"])

    def GRU(self, d):
        f, g = self.functions
        lines = [*self.gate("z", d), *self.gate("r", d), f"z = {f} (tz) r = {f} (tr)"]
        lines.append(f"xh = MatMul (e, Wh{d})")
        biased = "B" not in self.absent
        if "linear_before_reset = 1" in self.attributes:
            lines.append(f"kh = MatMul (h, Rh{d})")
            lines.append(f"bh = Add (kh, Vh{d})" if biased else "bh = Identity (kh)")
            lines.append("ih = Mul (r, bh)")
        else:
            lines.append(f"m = Mul (r, h) kh = MatMul (m, Rh{d})")
            lines.append(f"ih = Add (kh, Vh{d})" if biased else "ih = Identity (kh)")
        lines.append("sh = Add (xh, ih)")
        lines.append(f"th = Add (sh, Uh{d})" if biased else "th = Identity (sh)")
        lines.append(f"n = {g} (th) d = Sub (h, n) zd = Mul (z, d) hn = Add (n, zd)")
        return " ".join(lines)

    def LSTM(self, d):
        f, g, h = self.functions
        lines = [*self.gate("i", d, "c"), *self.gate("f", d, "c"), *self.gate("c", d)]
        lines.append(f"i = {f} (ti) f = {f} (tf) n = {g} (tc)")
        lines.append("a = Mul (i, n) b = Mul (f, c) cn = Add (b, a)")
        lines += [*self.gate("o", d, "cn"), f"o = {f} (to) w = {h} (cn) hn = Mul (w, o)"]
        return " ".join(lines)


LAYERS = {
    f"{op_type}-{direction}-{absent}{attributes}": Layer(
        op_type, direction, None, attributes, absent
    )
    for op_type, direction, (absent, attributes) in itertools.product(
        GATES, BACKWARD, [("P", ""), ("BhcP", ""), ("", "")]
    )
    if op_type == "LSTM" or absent
} | {
    "GRU-after": Layer("GRU", attributes=", linear_before_reset = 1"),
    "GRU-after-both": Layer("GRU", "bidirectional", attributes=", linear_before_reset = 1"),
    "GRU-after-bare": Layer("GRU", attributes=", linear_before_reset = 1", absent="B"),
    "GRU-relu": Layer("GRU", functions=("HardSigmoid", "Relu")),
    "RNN-elu": Layer("RNN", "bidirectional", functions=("Elu",)),
    "LSTM-softsign": Layer("LSTM", functions=("HardSigmoid", "Softsign", "LeakyRelu")),
    "GRU-one": Layer("GRU", length=1),
    "GRU-long": Layer("GRU", "reverse", length=100),
}
LAYOUTS = {
    f"{op_type}-{direction}": Layer(op_type, direction, attributes=", layout = 1")
    for op_type, direction in itertools.product(GATES, BACKWARD)
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [*LAYERS, *(f"layout {name}" for name in LAYOUTS)])
def test_an_operator_is_its_equations_over_the_reals(name):
    layer = LAYERS.get(name) or LAYOUTS[name.removeprefix("layout ")]
    one, other = layer.operator(), layer.equations()
    proof = prove(one, other, equality="reals")
    assert proof.status == "proved", proof.reason
    assert f"{layer.op_type} computes the equations" in " ".join(proof.assumptions)
    assert over_reals(other, one)
    assert prove(one, other).status == "open"


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", LAYERS)
def test_the_equations_give_what_onnxruntime_gives(name):
    layer = LAYERS[name]
    random = np.random.default_rng(0)
    feeds = {n: random.normal(size=s).astype(np.float32) for n, s in layer.shapes.items()}
    one, other = (run_in_onnxruntime(m, feeds) for m in (layer.operator(), layer.equations()))
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-5)


def swap(one, other):
    return lambda text: text.replace(one, "@").replace(other, one).replace("@", other)


@pytest.mark.sample(8)
@table(
    ("gates in another order", "GRU", "", swap("z = Sigmoid (tz)", "z = Sigmoid (tr)")),
    ("a bias less", "GRU", "", lambda t: t.replace("uz = Add (Uz0, sz)", "uz = Identity (sz)")),
    ("the other bias", "GRU", "", lambda t: t.replace("th = Add (sh, Uh0)", "th = Add (sh, Ur0)")),
    ("kept and new exchanged", "GRU", "",
     lambda t: t.replace("hn = Add (n, zd)", "hn = Sub (h, zd)")),
    ("weights of another gate", "GRU", "", swap("Wz0", "Wr0")),
    ("another function", "GRU", "", lambda t: t.replace("Tanh", "Softsign")),
    ("the cell before it changes", "LSTM", "",
     lambda t: t.replace("Mul (cn, Po0)", "Mul (c, Po0)")),
    ("input and forget exchanged", "LSTM", "P", swap("Mul (i, n)", "Mul (f, n)")),
    ("the function of the cell", "LSTM", "P", lambda t: t.replace("w = Tanh", "w = Identity")),
    ("the state before", "RNN", "", lambda t: t.replace("MatMul (h, Ri0)", "MatMul (e, Wi0)")),
    ("a NaN clamped", "RNN", "", lambda t: t.replace("hn =",
     "ok = IsNaN (ti) ns = Sub (ti, ti) cl = Where (ok, ns, ti) hn =").replace("Tanh (ti)",
     "Tanh (cl)")))  # fmt: skip
def test_other_equations_stay_open(name, op_type, absent, change):
    layer = Layer(op_type, absent=absent)
    assert change(f" {getattr(layer, op_type)('0')} ") != f" {getattr(layer, op_type)('0')} "
    assert not over_reals(layer.operator(), layer.equations(change))


def test_another_direction_or_order_of_the_reset_stays_open():
    gru = Layer("GRU")
    assert not over_reals(gru.operator(direction="reverse"), gru.equations())
    assert not over_reals(gru.operator(attributes=", linear_before_reset = 1"), gru.equations())
    both = Layer("RNN", "bidirectional")
    mixed = both.equations()
    for node in mixed.graph.node:  # the directions exchanged
        if node.op_type == "Concat":
            node.input[:] = node.input[::-1]
    assert not over_reals(both.operator(), mixed)


@pytest.mark.parametrize("attributes", [", clip = 3.0", ", input_forget = 1"])
def test_unspecified_layers_are_not_opened(attributes):
    layer = Layer("LSTM")
    assert not over_reals(layer.operator(attributes=attributes), layer.equations())


@pytest.mark.sample(5)
@pytest.mark.parametrize("op_type", GATES)
@pytest.mark.parametrize("direction", BACKWARD)
def test_an_operator_has_a_step_by_assumption(op_type, direction):
    """Without one onnxruntime leaves the last state undefined, and ends the process in a GRU: a
    rewrite is not accepted by this assumption."""
    layer = Layer(op_type, direction, length="n")
    assumption = f"the sequences of {op_type} have an element"
    for pair in ((layer.equations(), layer.operator()), (layer.operator(), layer.equations())):
        assert assumption in prove(*pair, equality="reals").assumptions
        proof = prove(*pair, equality="reals", minima={"n": 1})
        assert proof.proved and assumption not in proof.assumptions
        assert not over_reals(*pair, brief=True)
    feeds = {n: np.ones([0 if d == "n" else d for d in s], "f") for n, s in layer.shapes.items()}
    one, other = (by_reference(m, feeds) for m in (layer.operator(), layer.equations()))
    assert all(map(np.array_equal, one, other))


def test_a_sequence_that_may_be_empty_is_no_assumption_bit_for_bit():
    """An operator before a branch that checks the size may fail where the original does not."""
    text = """g (float[n, 2, 3] x, float[1, 4, 3] w, float[1, 4, 4] r) => (float[1, 2, 4] y)
        <int64[3] shape = {1, 2, 4}> {
        rows = Shape <end = 1> (x) n = Squeeze (rows) some = Cast <to = 9> (n) NODES }"""
    cell, zeros = "all, z = RNN <hidden_size = 4> (x, w, r)", "o = ConstantOfShape (shape)"
    guarded = f"""y = If (some) <then_branch = p () => (float[1, 2, 4] z) {{ {cell} }},
        else_branch = q () => (float[1, 2, 4] o) {{ {zeros} }}>"""
    bare = f"{cell} {zeros} y = Where (some, z, o)"
    before, after = (as_model(text.replace("NODES", t)) for t in (guarded, bare))
    assert not is_proved(before, after)


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", [1, 4, 7, 8, 10, 12, 13])
def test_loops_in_the_spellings_of_exporters_are_the_operators_that_they_become(seed):
    """Vectors and batches that may be empty, products of joined operands, scaled weights."""
    before = Spelling(seed).model
    after = rewrite(before, "raise-recurrences", verify=False)
    (operator,) = [node for node in after.graph.node if node.op_type in GATES]
    assert over_reals(before, after)
    (weights,) = [each for each in after.graph.initializer if each.name == operator.input[2]]
    array = onnx.numpy_helper.to_array(weights).copy()
    array.flat[-1] *= np.float32(1.01)
    weights.CopyFrom(onnx.numpy_helper.from_array(array, weights.name))
    assert not over_reals(before, after)


def test_an_operator_of_one_step_in_a_loop_is_the_operator_of_all():
    """States with and without an axis of size 1."""
    one_step = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[3, 2, 3] x, float[1, 2, 4] h, float[1, 12, 3] w, float[1, 12, 4] r)
        => (float[3, 2, 4] y)
        <int64[1] first = {0}, int64[1] second = {1}> {
        last, y = Scan <num_scan_inputs = 1, body = step (float[1, 2, 4] s, float[2, 3] e)
            => (float[1, 2, 4] t, float[2, 4] o) {
            row = Unsqueeze (e, first) unused, t = GRU <hidden_size = 4> (row, w, r, , , s)
            o = Squeeze (t, first) }> (h, x) }"""
    all_steps = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[3, 2, 3] x, float[1, 2, 4] h, float[1, 12, 3] w, float[1, 12, 4] r)
        => (float[3, 2, 4] y)
        <int64[1] first = {0}, int64[1] second = {1}> {
        all, last = GRU <hidden_size = 4> (x, w, r, , , h) y = Squeeze (all, second) }"""
    before, after = map(onnx.parser.parse_model, (one_step, all_steps))
    assert over_reals(before, after) and over_reals(after, before)
    other = onnx.parser.parse_model(all_steps.replace("(x, w, r, , , h)", "(x, w, r)"))
    assert not over_reals(before, other)


def test_the_last_state_of_a_list_is_that_of_the_operator():
    """Three iterations in a list, of which the last one alone is read."""
    layer = Layer("GRU", absent="BP")
    (name,) = [node.output[0] for node in layer.equations().graph.node if node.op_type == "Concat"][
        1:
    ]
    both = layer.operator(), layer.equations()
    for model in both:
        (kept,) = [output for output in model.graph.output if output.name == name]
        del model.graph.output[:]
        model.graph.output.append(kept)
    assert over_reals(*both) and over_reals(*both[::-1])
