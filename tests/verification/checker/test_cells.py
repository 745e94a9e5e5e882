"""Loops that the passes write as recurrent operators, and their derivations over the reals."""

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import assert_equal
from proofs import model
from sessions import by_reference
from straightline.verification.certificate_check import check
from tables import table

BODIES = {
    "RNN": "xh=MatMul(e,wh) rh=MatMul(h,uh) sh=Add(xh,rh) {bh} hn=Tanh(th)",
    "GRU": """xz=MatMul(e,wz) rz=MatMul(h,uz) sz=Add(xz,rz) {bz} z=Sigmoid(tz)
        xr=MatMul(e,wr) rr=MatMul(h,ur) sr=Add(xr,rr) {br} r=Sigmoid(tr)
        xh=MatMul(e,wh) {reset} sh=Add(xh,rh) {bh} m=Tanh(th)
        d=Sub(one,z) p=Mul(d,m) q=Mul(z,h) hn=Add(p,q)""",
    "LSTM": """xi=MatMul(e,wi) ri=MatMul(h,ui) si=Add(xi,ri) {bi} i=Sigmoid(ti)
        xo=MatMul(e,wo) ro=MatMul(h,uo) so=Add(xo,ro) {bo} o=Sigmoid(to)
        xf=MatMul(e,wf) rf=MatMul(h,uf) sf=Add(xf,rf) {bf} f=Sigmoid(tf)
        xh=MatMul(e,wh) rh=MatMul(h,uh) sh=Add(xh,rh) {bh} m=Tanh(th)
        p=Mul(f,c) q=Mul(i,m) cn=Add(p,q) v=Tanh(cn) hn=Mul(o,v)""",
}
GATES = {"RNN": "h", "GRU": "zrh", "LSTM": "iofh"}
RESETS = {
    0: "k=Mul(r,h) rh=MatMul(k,uh)",
    1: "k=MatMul(h,uh) rh=Mul(r,k)",
    2: "k=MatMul(h,uh) j=Add(k,vh) rh=Mul(r,j)",
}
INPUTS, HIDDEN, BATCH = 3, 2, 2


def loop(op_type, rows="n", *, reset=0, bias=True, start=True, back=0, sides=(0,)):
    """A model of Scans that is a recurrent operator."""
    draw, tensors = np.random.default_rng(1), {"one": np.ones((), np.float32)}
    states, lines, outputs = ["h", "c"] if op_type == "LSTM" else ["h"], [], []
    for side in sides:
        names = {"reset": RESETS[reset], **{f"b{g}": "" for g in GATES[op_type]}}
        body = BODIES[op_type]
        for gate in GATES[op_type]:
            shapes = {"w": (INPUTS, HIDDEN), "u": (HIDDEN, HIDDEN), "a": (HIDDEN,), "v": (HIDDEN,)}
            for name, shape in shapes.items():
                tensors[f"{name}{gate}{side}"] = draw.normal(size=shape).astype(np.float32)
            names[f"b{gate}"] = f"t{gate}=Add(s{gate},a{gate})" if bias else ""
            body = body if bias else body.replace(f"(t{gate})", f"(s{gate})")
        body = body.format(**names)
        for name in tensors:
            if name.endswith(str(side)):
                body = body.replace(f"{name[:-1]})", f"{name})")
        head = ", ".join(f"float[{BATCH},{HIDDEN}] {s}" for s in states)
        ends = ", ".join(f"float[{BATCH},{HIDDEN}] {s}n" for s in states)
        starts = ", ".join(f"{s}{side}0" for s in states)
        lines.append(
            f"""{", ".join(f"{s}{side}L" for s in states)}, y{side} = Scan <num_scan_inputs=1,
            scan_input_directions=[{back ^ side}], scan_output_directions=[{back ^ side}],
            body = l ({head}, float[{BATCH},{INPUTS}] e) => ({ends}, float[{BATCH},{HIDDEN}] g)
            {{ {body} g=Identity(hn) }}> ({starts}, x)"""
        )
        outputs += [f"y{side}", *[f"{s}{side}L" for s in states]]
        for state in states:
            tensors[f"{state}{side}0"] = np.zeros((BATCH, HIDDEN), np.float32)
    inputs = [f"float[{rows},{BATCH},{INPUTS}] x"]
    names = [f"{s}{side}0" for side in sides for s in states]
    inputs += [f"float[{BATCH},{HIDDEN}] {name}" for name in names if start]
    text = f"g ({', '.join(inputs)}) => ({', '.join(outputs)}) {{ {' '.join(lines)} }}"
    proto = model(text, 18)
    for name, array in tensors.items():
        if not start or name not in names:
            proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return proto


FORMS = [
    (op_type, rows, {"reset": reset, "bias": bias, "start": start, "back": back})
    for op_type in BODIES
    for rows in ("n", 4)
    for reset in ((0, 1, 2) if op_type == "GRU" else (0,))
    for bias in (True, False)
    for start in (True, False)
    for back in (0, 1)
]


def derivation(before, after):
    proof = sl.Proof("proved", "equal over the reals for every input", equality="reals")
    return sl.Certificate.of(before, after, proof).to_dict()


def assert_derived(before, after):
    """Check the derivation, and both models on no row, on one, and on four."""
    document = derivation(before, after)
    assert isinstance(document["derivation"], dict), document["derivation"]
    result = check(document, before, after)
    assert "cell" in result.rules and "specification" in result.claim
    (rows, *_) = before.graph.input[0].type.tensor_type.shape.dim
    for count in (0, 1, 4) if rows.dim_param else (4,):
        draw, feeds = np.random.default_rng(count), {}
        for info in before.graph.input:
            sizes = [count if d.dim_param else d.dim_value for d in info.type.tensor_type.shape.dim]
            feeds[info.name] = draw.normal(size=sizes).astype(np.float32)
        for one, other in zip(by_reference(before, feeds), by_reference(after, feeds), strict=True):
            assert_equal(one, other)


def accelerated(before):
    return sl.transform(before, "accelerate", verify=False, max_run_memory=0).model


@pytest.mark.sample(8)
@table(*FORMS)
def test_what_the_passes_write_is_derived(op_type, rows, settings):
    before = loop(op_type, rows, **settings)
    after = accelerated(before)
    assert [node.op_type for node in after.graph.node if node.op_type in BODIES] == [op_type]
    assert_derived(before, after)


@pytest.mark.sample(2)
@table(("RNN", "n"), ("RNN", 4), ("GRU", "n"), ("GRU", 4), ("LSTM", "n"))
def test_both_directions_are_derived(op_type, rows):
    before = loop(op_type, rows, sides=(0, 1))
    assert_derived(before, accelerated(before))


def attribute(name, value):
    def change(proto, node):
        kept = [each for each in node.attribute if each.name != name]
        del node.attribute[:]
        node.attribute.extend([*kept, onnx.helper.make_attribute(name, value)])

    return change


def gates(*order):
    def change(proto, node):
        for tensor in proto.graph.initializer:
            if tensor.name in node.input[1:3]:
                parts = np.split(onnx.numpy_helper.to_array(tensor), len(order), axis=1)
                array = np.concatenate([parts[k] for k in order], axis=1)
                tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))

    return change


def without(place):
    def change(proto, node):
        node.input[place] = ""

    return change


@pytest.mark.sample(6)
@table(
    ("GRU", gates(1, 0, 2)),
    ("GRU", gates(0, 2, 1)),
    ("LSTM", gates(0, 2, 1, 3)),
    ("LSTM", gates(2, 1, 0, 3)),
    ("GRU", attribute("linear_before_reset", 1)),
    ("GRU", attribute("direction", "reverse")),
    ("GRU", attribute("clip", 3.0)),
    ("GRU", attribute("activations", ["Sigmoid", "Relu"])),
    ("LSTM", attribute("input_forget", 1)),
    ("RNN", attribute("activations", ["LeakyRelu"])),
    ("GRU", without(3)),
    ("GRU", without(5)),
    ("LSTM", without(6)),
)
def test_another_operator_is_not_derived(op_type, change):
    for rows in ("n", 2):
        before = loop(op_type, rows)
        after = accelerated(before)
        (node,) = [each for each in after.graph.node if each.op_type == op_type]
        change(after, node)
        assert isinstance(derivation(before, after)["derivation"], str)
