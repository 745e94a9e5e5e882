"""Calls as users write them, for type checkers: `make types` and `make pyright` read this file.

A line with `type: ignore` is wrong, and the checkers must say so: an ignore that is not needed is
an error, too.
"""

from pathlib import Path

import onnx
import onnx_ir
import straightline as sl
from typing_extensions import assert_type


def rewrites(message: onnx.ModelProto) -> None:
    assert_type(sl.rewrite("m.onnx"), onnx.ModelProto)
    assert_type(sl.rewrite(Path("m.onnx"), "accelerate", max_trips=4), onnx.ModelProto)
    assert_type(sl.rewrite(message, values={"n": 3}, verify=True), onnx.ModelProto)
    assert_type(sl.rewrite(b"a model"), onnx.ModelProto)
    with Path("m.onnx").open("rb") as stream:
        assert_type(sl.rewrite(stream, shapes={"x": (1, None)}), onnx.ModelProto)
    assert_type(sl.rewrite(onnx_ir.load("m.onnx")), onnx_ir.Model)
    assert_type(sl.rewrite(sl.load("m.onnx")), sl.ir.Model)


def conversions() -> None:
    assert_type(sl.convert_version("m.onnx", 13), onnx.ModelProto)
    assert_type(sl.convert_version(onnx_ir.load("m.onnx"), 13, dims={"T": 6}), onnx_ir.Model)
    assert_type(sl.convert_version(sl.load("m.onnx"), 13), sl.ir.Model)


def outcomes() -> None:
    outcome = sl.transform("m.onnx", opset=13, target="tvm", exactness="reals")
    assert_type(outcome, sl.Outcome[onnx.ModelProto])
    assert_type(model_of(outcome), onnx.ModelProto)
    assert_type(sl.transform(onnx_ir.load("m.onnx")).model, onnx_ir.Model)
    assert_type(outcome.verified(samples=2).model, onnx.ModelProto)
    if outcome.verdict is not None and outcome.verdict.proof is not None:
        assert_type(outcome.verdict.proof, sl.Proof)
    for remark in outcome.left:
        assert_type(remark, sl.Remark)


def model_of(outcome: sl.Outcome) -> onnx.ModelProto:
    return outcome.model


def proofs() -> None:
    assert_type(sl.prove("a.onnx", "b.onnx", equality="reals"), sl.Proof)
    assert_type(sl.verify("a.onnx", "b.onnx", samples=4), sl.Verdict)


def mistakes() -> None:
    sl.rewrite("m.onnx", max_trip=4)  # type: ignore[call-overload]
    sl.rewrite("m.onnx", verify="prove")  # type: ignore[call-overload]
    sl.rewrite("m.onnx", exactness="real")  # type: ignore[call-overload]
    sl.rewrite(3)  # type: ignore[call-overload]
    sl.transform("m.onnx", opset="13")  # type: ignore[call-overload]
    sl.convert_version("m.onnx")  # type: ignore[call-overload]
    sl.prove("a.onnx", "b.onnx", equality="real")  # type: ignore[arg-type]
