"""What is not well formed is refused by every public function and command, with one clear line."""

from collections.abc import Callable
from typing import Any

import malformed
import nonsense
import numpy as np
import onnx
import pytest
import straightline as sl
from depth import examples
from onnx import helper
from straightline.cli.commands import app
from tables import table
from typer.testing import CliRunner

PUBLIC: dict[str, Callable[[Any], object]] = {
    "rewrite": sl.rewrite,
    "inspect": sl.inspect,
    "convert": lambda model: sl.convert_version(model, 13),
    "verify": lambda model: sl.verify(model, model),
    "prove": lambda model: sl.prove(model, model),
    "run": lambda model: sl.reference.run(model, {}),
}


def command(folder: Any, *arguments: object) -> Any:
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.mark.sample(200)
@pytest.mark.parametrize("function", PUBLIC)
@pytest.mark.parametrize("name", malformed.REFUSED)
def test_public_functions(name: str, function: str) -> None:
    with pytest.raises(sl.Error) as caught:
        PUBLIC[function](malformed.malformed(name))
    assert "\n" not in str(caught.value)
    if function != "run":
        assert malformed.REFUSED[name][1] in str(caught.value)


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", malformed.REFUSED)
def test_command_line(name: str, tmp_path: Any) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    path.write_bytes(malformed.malformed(name).SerializeToString())
    commands = (["rewrite", path, out], ["convert", path, out, "--opset", 13], ["inspect", path])
    for arguments in (*commands, ["verify", path, path]):
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        assert result.exit_code == 1, result.output
        assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert not out.exists()


def test_the_model_without_a_change_is_right() -> None:
    model = malformed.model()
    onnx.checker.check_model(model, full_check=True)
    assert not sl.inspect(sl.rewrite(model, values={"n": 2, "c": True}, verify=True)).constructs
    assert sl.ir.to_proto(sl.ir.load(model)) == model


# What looks odd and is right ----------------------------------------------------------------------

HEAD = '<ir_version: 8, opset_import: ["": 17, "own": 1]>'


def parsed(text: str, head: str = HEAD) -> onnx.ModelProto:
    return onnx.parser.parse_model(head + text)


def untyped_attributes() -> onnx.ModelProto:
    proto = parsed("g (float[2, 3] x) => (float[2, 3] y) { y = Softmax <axis = 0> (x) }")
    proto.ir_version = 2
    del proto.opset_import[:]
    proto.graph.node[0].attribute[0].ClearField("type")
    return proto


def typed_without_a_value() -> onnx.ModelProto:
    proto = parsed("g (float[2, 3] x) => (float[2, 3] y) { y = Softmax <axis = 0> (x) }")
    proto.graph.node[0].attribute[0].ClearField("i")
    return proto


def reference_without_a_kind() -> onnx.ModelProto:
    proto = parsed(
        "g (float[2, 3] x) => (float[2, 3] y) { y = own.f <d = 1> (x) }"
        '<domain: "own", opset_import: ["": 17]> f <d> (x) => (y)'
        "{ y = Softmax <axis: int = @d> (x) }"
    )
    proto.functions[0].node[0].attribute[0].ClearField("type")
    return proto


def without_weights() -> onnx.ModelProto:
    proto = parsed("g (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> { y = Add(x, w) }")
    proto.graph.initializer[0].ClearField("float_data")
    proto.graph.initializer[0].ClearField("raw_data")
    return proto


def surplus_inputs_that_are_absent() -> onnx.ModelProto:
    proto = parsed("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    proto.graph.node[0].input.extend(["", ""])
    return proto


def dimension_of_minus_one() -> onnx.ModelProto:
    proto = parsed("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    return proto


def function_in_the_place_of_an_operator() -> onnx.ModelProto:
    return parsed(
        "g (float[3] x) => (float[3] y) { y = own.Add <to = 999> (x) }"
        '<domain: "own", opset_import: ["": 17]> Add (x) => (y) { y = Neg(x) }'
    )


def odd_bytes_that_nobody_reads() -> onnx.ModelProto:
    proto = parsed("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    proto.graph.node.append(helper.make_node("Any", ["x"], ["z"], domain="own", s=b"\xff"))
    return proto


def branch_that_reads_what_a_call_leaves_out() -> onnx.ModelProto:
    return parsed(
        "g (float[3] x) => (float[3] y) { y = own.f (x) }"
        '<domain: "own", opset_import: ["": 18]> f (x, b) => (y) {'
        "has = OptionalHasElement(b)"
        "y = If(has) <then_branch = t () => (p) { p = Add(x, b) },"
        "             else_branch = e () => (q) { q = Neg(x) }> }"
    )


def of_opset(version: int, text: str) -> Callable[[], onnx.ModelProto]:
    return lambda: parsed(text, f'<ir_version: 7, opset_import: ["": {version}]>')


ACCEPTED: dict[str, Callable[[], onnx.ModelProto]] = {
    **{
        make.__name__: make
        for make in (
            untyped_attributes,
            typed_without_a_value,
            reference_without_a_kind,
            without_weights,
            surplus_inputs_that_are_absent,
            dimension_of_minus_one,
            function_in_the_place_of_an_operator,
            odd_bytes_that_nobody_reads,
            branch_that_reads_what_a_call_leaves_out,
        )
    },
    "deprecated": of_opset(11, "g (float[1, 2] x) => (y) { s = Shape(x) y = Upsample(x, s) }"),
    "scatter": of_opset(12, "g (float[3] x, int64[1] i) => (y) { y = Scatter(x, i, x) }"),
    "experimental": of_opset(9, 'g (float[3] x) => (y) { y = ATen <operator = "abs"> (x) }'),
    "unknown": of_opset(9, "g (float[3] x) => (y) { y = ConstantFill <value = 1.0> (x) }"),
    "consumed": of_opset(1, "g (float[3] x) => (y) { y = Relu <consumed_inputs = [0]> (x) }"),
    "old cast": of_opset(5, 'g (float[3] x) => (y) { y = Cast <to = "INT64"> (x) }'),
    "newer than its opset": of_opset(9, "g (float[3] x) => (y) { y = Gelu(x) }"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_odd_models_load(name: str) -> None:
    proto = ACCEPTED[name]()
    assert sl.ir.to_proto(sl.ir.load(proto)) == proto
    sl.inspect(proto)
    sl.rewrite(proto)


def test_an_attribute_that_does_not_say_its_kind_is_read() -> None:
    assert sl.ir.load(untyped_attributes()).graph.nodes()[0].attribute("axis") == 0


def test_an_operator_that_the_source_lacks_is_not_converted() -> None:
    with pytest.raises(sl.versions.ConversionError, match="Gelu does not exist in opset 9"):
        sl.convert_version(ACCEPTED["newer than its opset"](), 21)


# What only running or asking shows ----------------------------------------------------------------


def test_a_tensor_where_a_sequence_is_wanted() -> None:
    proto = parsed(
        "g (float x) => (seq(float) y) { y = SequenceMap(x)"
        " <body = b (float e) => (float r) { r = Neg(e) }> }"
    )
    with pytest.raises(sl.reference.EvaluationError, match="SequenceMap 'y'"):
        sl.reference.run(proto, {"x": np.float32(1)})


def test_an_input_too_large_to_be_drawn_is_not_compared() -> None:
    proto = parsed("g (int64[2147483647] x, float[2] z) => (float[2] y) { y = Neg(z) }")
    verdict = sl.verify(proto, proto, prove=False)
    assert verdict.status == "not verified" and "too large to be drawn" in verdict.reason


def test_text_that_cannot_be_printed() -> None:
    with pytest.raises(sl.Error, match="model 'g'"):
        sl.ir.to_text(sl.ir.load(odd_bytes_that_nobody_reads()))


def test_a_scan_over_an_axis_that_its_input_lacks() -> None:
    proto = parsed(
        "g (float[3] x) => (float[k] y, int64[1] n) {"
        "y = Scan <num_scan_inputs = 1, scan_input_axes = [4], body = b (float e) => (float r)"
        "{ r = Neg(e) }> (x) n = Shape(y) }"
    )
    for function in (sl.rewrite, sl.inspect, lambda model: sl.convert_version(model, 13)):
        function(proto)
    with pytest.raises(sl.Error, match="Scan 'y'"):
        sl.reference.run(proto, {"x": np.ones(3, np.float32)})


# What is well formed and makes no sense -----------------------------------------------------------


def test_nodes_that_make_no_sense() -> None:
    """A share of `PYTHONPATH=tests/support python dev/fuzz/nonsense.py`."""
    assert list(nonsense.told(0, range(examples(3)))) == []


@table("y = Expand (slice, k)", "y = CumSum (slice, k)", "y = DFT (slice, , k)")
def test_operands_of_another_rank_in_a_loop(node: str) -> None:
    text = f"""<ir_version: 10, opset_import: ["": 20]>
    g (float[4, 2, 3] x, int64 n) => (s) <int64[2, 2] k = {{1, 1, 1, 1}}> {{
        s = Loop (n, "") <body = iteration (int64 i, bool go) => (more, y) {{
            more = Identity (go)
            slice = Gather <axis = 0> (x, i)
            {node} }}> }}"""
    constructs = sl.inspect(sl.rewrite(onnx.parser.parse_model(text))).constructs
    assert [construct.op_type for construct in constructs] == ["Loop"]


def test_a_pool_whose_pads_do_not_fit_is_not_run_in_an_untaken_branch() -> None:
    for how in ("pads = [1]", "strides = [0]", "dilations = [1, 1]"):
        model = parsed(
            f"g (bool c, float[1, 1, 5] x) => (y) {{ y = If (c) <"
            f"then_branch = t () => (p) {{ p = MaxPool <kernel_shape = [2], {how}> (x) }},"
            "else_branch = e () => (q) { q = Neg (x) }> }"
        )
        assert len(sl.inspect(sl.rewrite(model, "ifs-to-selects")).constructs) == 1
