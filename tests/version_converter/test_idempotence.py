"""Idempotence: a second run of the same conversion changes nothing."""

import conversion_sweep
import numpy as np
import onnx
import pytest
import straightline as sl
from conversions import assert_carried, model, written
from depth import DEEP
from straightline.version_converter import ConversionError

TARGETS = (7, 9, 11, 13, 17, 21, 28)
CASES = [(name, target) for name in conversion_sweep.seeds(DEEP) for target in TARGETS]
MAXIMA = 'y = ScatterElements <axis = 0, reduction = "max"> (x, i, u)'
SIGNATURE = "float[5] x, int64[3] i, float[3] u"


def converted(proto: onnx.ModelProto, target: int) -> onnx.ModelProto:
    return sl.transform(proto, opset=target, verify=False, hints=False).model


@pytest.mark.sample(20)
@pytest.mark.parametrize(("name", "target"), CASES)
def test_a_second_run_changes_nothing(name: str, target: int) -> None:
    try:
        once = converted(conversion_sweep.seeds(DEEP)[name][0].model, target)
    except ConversionError:
        return
    assert converted(once, target) == once


@pytest.mark.parametrize("convert", [sl.convert_version, converted])
def test_a_loop_that_the_conversion_wrote_is_straightened(convert) -> None:
    after = convert(model(MAXIMA, 18, SIGNATURE), 17)
    operators = {node.op_type for node in after.graph.node}
    assert "ScatterElements" in operators and not {"Loop", "If"} & operators


def test_a_loop_of_open_length_stays() -> None:
    after = sl.convert_version(model(MAXIMA, 18, "float[5] x, int64[n] i, float[n] u"), 17)
    assert "Loop" in {node.op_type for node in after.graph.node}


def test_conversion_alone_leaves_the_loops_of_the_model() -> None:
    loop = """three = Constant <value = int64 {3}> ()
        z = Loop (three, , y) <body = b (int64 k, bool c, float[5] s) => (bool d, float[5] t)
            { d = Identity (c) t = Neg (s) }>"""
    proto = model(f"{MAXIMA} {loop}", 18, SIGNATURE, "z")
    assert [n.op_type for n in sl.convert_version(proto, 17).graph.node].count("Loop") == 1
    assert not [n for n in converted(proto, 17).graph.node if n.op_type == "Loop"]


def test_a_sequence_map_is_control_flow_of_the_model() -> None:
    body = """s = SequenceConstruct (x, x)
        q = SequenceMap (s) <body = b (float[5] e) => (float[5] f) { f = Neg (e) }>
        zero = Constant <value = int64 {0}> () y = SequenceAt (q, zero)"""
    after = sl.convert_version(model(body, 17, "float[5] x"), 16)
    assert "Loop" in {node.op_type for node in after.graph.node}


def test_passes_see_what_the_conversion_made() -> None:
    proto = model("d = Dropout <is_test = 1> (x) y = Neg (d)", 6)
    after = sl.transform(proto, "simplify", opset=13, verify=False).model
    assert written(after.graph) == ["Neg (x)"]


def test_remarks_come_once() -> None:
    loop = """y = Loop (n, , x)
        <body = b (int64 k, bool c, float[2, 3] s) => (bool d, float[2, 3] t)
            { d = Identity (c) t = Softmax (s) }>"""
    outcome = sl.transform(model(loop, 12, "float[2, 3] x, int64 n"), opset=13, verify=False)
    kept = [remark for remark in outcome.remarks if remark.action == "kept"]
    assert len(kept) == len(set(kept)) > 0


def test_numbers() -> None:
    feeds = {
        "x": np.array([1, 2, 3, 4, 5], np.float32),
        "i": np.array([0, 0, -1]),
        "u": np.array([7, 9, -1], np.float32),
    }
    assert_carried(MAXIMA, 18, (17, 13, 11), feeds, SIGNATURE)
