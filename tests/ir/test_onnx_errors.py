import onnx
import pytest
from straightline import ir
from straightline.ir.errors import LoadError
from straightline.ir.onnx_errors import Boundary, ask_onnx, ends_inference, one_line
from tables import table


def test_results_and_errors_of_onnx_pass_through() -> None:
    assert ask_onnx("here", divmod, 7, 2) == (3, 1)
    assert ask_onnx("here", sorted, [2, 1], reverse=True) == [2, 1]


@pytest.mark.parametrize("raised", [RuntimeError("bad\n  thing"), IndexError("bad thing")])
def test_any_exception_becomes_one_that_names_the_place(raised: Exception) -> None:
    def fail() -> None:
        raise raised

    with pytest.raises(ir.OnnxError, match=r"^Add 'a': bad thing$") as caught:
        ask_onnx("Add 'a'", fail)
    assert caught.value.__cause__ is raised and isinstance(caught.value, ir.ModelError)
    with pytest.raises(LoadError, match=r"^a file: bad thing$"):
        Boundary(LoadError)("a file", fail)


def test_onnx_itself() -> None:
    broken = onnx.ModelProto(ir_version=8)
    with pytest.raises(ir.OnnxError, match="the model: ") as caught:
        ask_onnx("the model", onnx.checker.check_model, broken)
    assert isinstance(caught.value.__cause__, onnx.checker.ValidationError)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_an_end_of_the_process_is_no_answer(end: type[BaseException]) -> None:
    def stop() -> None:
        raise end

    with pytest.raises(end):
        ask_onnx("here", stop)


def test_one_line() -> None:
    assert one_line(ValueError(" a\n b\t c ")) == "a b c"
    assert one_line(ValueError()) == "ValueError"
    assert one_line(ValueError(b"caf\xc3\xa9 \xff")) == "café \N{REPLACEMENT CHARACTER}"
    assert one_line(OSError(2, "No such file")) == "[Errno 2] No such file"
    assert len(one_line(ValueError("x" * 10_000))) == 500


@table(
    ("LayerNormalization", {"axis": 2**31}, True),
    ("LayerNormalization", {"axis": -(2**31)}, False),
    ("GatherND", {"batch_dims": -1}, True),
    ("Split", {"num_outputs": 0}, True),
    ("Split", {"num_outputs": 2, "axis": 0}, False),
    ("Softmax", {"axis": 2**40}, False),
)
def test_nodes_that_crash_onnx(op_type: str, given: dict[str, int], ends: bool) -> None:
    node = onnx.helper.make_node(op_type, ["x"], ["y"], **given)
    assert ends_inference(op_type, node.attribute) == ends
