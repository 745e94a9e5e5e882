"""Carrying all Scans of a model to another opset, or none."""

import onnx
import pytest
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes import PassContext, Scan8To9
from straightline.passes.scans import opset
from straightline.passes.scans.opset import Crossing, scans_inside_out


def scan(name, inner="r = Neg (e)"):
    return f"""{name} = Scan <num_scan_inputs = 1, body = b_{name} (float[2] e) => (float[2] r) {{
        {inner} }}> (, x)"""


def model_of(nodes, opset=8, domain=""):
    return ir.load(
        onnx.parser.parse_model(
            f'<ir_version: 8, opset_import: ["{domain}" : {opset}]> g (float[1,3,2] x) =>'
            f" (float[K,L,M] y) {{ {nodes} }}"
        )
    )


TWO = f"{scan('z')} y = Identity (z) {scan('w')}"


def carry(model, monkeypatch, obstacle=lambda shapes: None):
    context, converted = PassContext(), []

    def convert(graph, shapes):
        converted.append(shapes.node.output().name)

    monkeypatch.setitem(opset._CONVERSIONS, 8, (obstacle, convert))
    changed = Scan8To9().run(model, context)
    return changed, converted, list(context.remarks)


def test_all_are_converted_and_the_import_with_them(monkeypatch):
    model = model_of(TWO)
    changed, converted, remarks = carry(model, monkeypatch)
    assert changed and sorted(converted) == ["w", "z"]
    assert model.opset() == 9
    assert [r.reason for r in remarks] == ["converted to opset 9"] * 2


def test_one_that_stays_keeps_them_all(monkeypatch):
    model = model_of(TWO)
    first = next(node for _, node in scans_inside_out([model]))
    changed, converted, remarks = carry(
        model, monkeypatch, lambda shapes: "it is odd" if shapes.node is first else None
    )
    assert (changed, converted, model.opset()) == (False, [], 8)
    assert {r.reason for r in remarks} == {
        "it is odd",
        "another Scan cannot be converted, and an opset holds for a whole model",
    }


def test_an_operator_that_changes_keeps_them_all(monkeypatch):
    model = model_of(f"{scan('z')} y = Flatten (z)")
    changed, converted, (remark,) = carry(model, monkeypatch)
    assert (changed, converted, model.opset()) == (False, [], 8)
    assert "Flatten 'y' is another operator in opset 9 than in opset 8" in remark.reason
    assert "straightline convert --opset 9" in remark.reason


def test_one_inside_a_body_counts_too(monkeypatch):
    changed, _, (remark,) = carry(model_of(scan("y", "q = Flatten (e) r = Neg (e)")), monkeypatch)
    assert not changed and "Flatten" in remark.reason


@pytest.mark.parametrize(("nodes", "version"), [("y = Neg (x)", 8), (scan("y"), 9)])
def test_nothing_to_convert(monkeypatch, nodes, version):
    model = model_of(nodes if version == 8 else nodes.replace("(, x)", "(x)"), version)
    assert carry(model, monkeypatch) == (False, [], [])
    assert model.opset() == version


def test_inner_ones_come_first():
    inner = """q = Loop (three, , e) <body = c (int64 i, bool g, float[2] a) =>
        (bool h, float[2] o) { h = Identity (g) o = Identity (a) }> r = Neg (q)"""
    nested = scan("y", inner).replace("o = Identity (a)", scan("o"))
    model = ir.load(
        onnx.parser.parse_model(
            f"""<ir_version: 8, opset_import: ["" : 8]> g (float[1,3,2] x, int64 three) =>
            (float[K,L,M] y) {{ {nested} }}"""
        )
    )
    assert [node.output().name for _, node in scans_inside_out([model])] == ["o", "y"]
    surveyed = Crossing([model], 8, ShapeInference(model)).surveyed
    assert [node.output().name for node in surveyed] == ["y", "o"]
    assert all(shapes.length() == 3 for shapes in surveyed.values())
