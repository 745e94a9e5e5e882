from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from harness import assert_equal_outputs
from straightline import BindingError, MismatchError, convert_version, ir, transform
from straightline.driver import line
from straightline.driver.job import Job, Request
from straightline.driver.options import RewriteOptions
from straightline.driver.verify import verify
from straightline.verification.runs.options import VerifyOptions
from straightline.version_converter import ConversionError
from wrong_passes import Negating

SEQUENCE = """<ir_version: 8, opset_import: ["": 17]>
    g (float[2] x, float[2] y, int64 k) => (float[2] b) {
        s = SequenceConstruct (x, y)
        b = SequenceAt (s, k) }"""
X, Y = np.array([0.5, -2.0], np.float32), np.array([3.0, 4.0], np.float32)


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


def failed(model: Any, target: int, **options: Any) -> ConversionError:
    with pytest.raises(ConversionError) as caught:
        convert_version(model, target, **options)
    return caught.value


def converted_job(model: Any, target: int, passes: Any = (), **known: Any) -> Job:
    job = line.run(Request(model, RewriteOptions(passes, opset=target, **known)))
    assert job.converted is not None
    return job


def test_a_value_that_is_set_decides_what_stands_in_the_way() -> None:
    converted = convert_version(parsed(SEQUENCE), 9, values={"k": 1}, verify=True)
    assert isinstance(converted, onnx.ModelProto)
    assert [v.name for v in converted.graph.input] == ["x", "y"]
    before = convert_version(parsed(SEQUENCE), 17, values={"k": 1})
    assert isinstance(before, onnx.ModelProto)
    assert_equal_outputs(before, converted, {"x": X, "y": Y})


def test_without_rewriting_it_stays_and_cannot_be_converted() -> None:
    error = failed(parsed(SEQUENCE), 9, values={"k": 1}, rewrite=False)
    assert [f.op_type for f in error.failures] == ["SequenceAt", "SequenceConstruct"]
    assert "not rewritten" not in str(error)


def test_a_convertible_model_is_not_rewritten() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x) => (float[2] y) <bool yes = {1}> {
            y = If (yes) <
                then_branch = t () => (float[2] a) { a = Neg (x) },
                else_branch = e () => (float[2] b) { b = Exp (x) }> }"""
    made = converted_job(parsed(text), 10)
    assert made.converted.remarks == ()
    assert [node.op_type for node in made.model.graph.nodes()] == ["If"]


def test_a_rewrite_for_the_conversion_is_reported() -> None:
    made = converted_job(parsed(SEQUENCE), 10, values={"k": 0})
    assert (made.converted.before, made.model.opset()) == (17, 10)
    assert made.converted.differences.to_dict() == {
        "changed": {"SequenceConstruct": 1, "SequenceAt": 1},
        "added": {"Identity": 1},
    }
    assert [(r.op_type, r.path, r.action) for r in made.converted.remarks] == [
        ("SequenceAt", "b", "rewritten"),
        ("SequenceConstruct", "s", "rewritten"),
    ]


def test_the_reason_for_which_something_was_not_rewritten_is_told() -> None:
    assert "; not rewritten: its position depends on input 'k'; decide it with --set k=..." in str(
        failed(parsed(SEQUENCE), 10)
    )


def test_forms_that_cannot_be_converted_are_not_the_last_word() -> None:
    """All iterations at once take a GatherND that opset 11 lacks; unrolled they take Gathers."""
    proto = parsed("""<ir_version: 8, opset_import: ["": 17]>
        g (float[2, 4] x, int64[2, 1] at) => (float[M] b) <bool yes = {1}, int64 n = {2}> {
            e = SequenceEmpty ()
            s = Loop (n, yes, e) <
                body = b (int64 i, bool c, seq(float[K]) s0) => (bool c, seq(float[K]) s1) {
                    r = Gather (x, i)
                    k = Gather (at, i)
                    v = Gather (r, k)
                    s1 = SequenceInsert (s0, v) }>
            b = ConcatFromSequence <axis = 0> (s) }""")
    for target, op_types in ((12, {"GatherND"}), (10, {"Gather", "Concat"})):
        made = convert_version(proto, target, verify=True)
        assert isinstance(made, onnx.ModelProto)
        assert {node.op_type for node in made.graph.node} >= op_types
        x = np.arange(8, dtype=np.float32).reshape(2, 4)
        assert_equal_outputs(proto, made, {"x": x, "at": np.array([[3], [1]])})


def test_shapes_are_known_to_the_conversion() -> None:
    proto = parsed("""<ir_version: 8, opset_import: ["": 17]> g (float[N, 2] x) => (float[M, 2] y) {
            length = Shape <end = 1> (x)
            y, places = TopK <axis = 0> (x, length) }""")
    assert [f.op_type for f in failed(proto, 8).failures] == ["TopK"]
    assert convert_version(proto, 8, shapes={"x": (3, None)}, verify=True)
    with pytest.raises(BindingError, match="has no input 'n'"):
        convert_version(proto, 8, shapes={"n": (3,)})


def test_defaults_are_constants_where_they_are_frozen() -> None:
    default = """<ir_version: 8, opset_import: ["": 13]>
        g (float[N, 3] x, int64[1] k) => (float[M, 3] y) <int64[1] k = {1}> {
            y, places = TopK <axis = 0> (x, k) }"""
    proto = parsed(default)
    assert [value.name for value in proto.graph.input] == ["x", "k"]
    assert [f.op_type for f in failed(proto, 8).failures] == ["TopK"]
    made = convert_version(proto, 8, freeze_initializers=True, verify=True)
    assert isinstance(made, onnx.ModelProto)
    assert [value.name for value in made.graph.input] == ["x"]


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_the_comparison_knows_what_was_set(runtime: str) -> None:
    made = converted_job(parsed(SEQUENCE), 9, values={"k": 1})
    assert verify(made, VerifyOptions(runtime=runtime))[1].equal


def test_a_conversion_that_is_wrong_is_found() -> None:
    made = converted_job(parsed(SEQUENCE), 9, values={"k": 1})
    made.model = converted_job(parsed(SEQUENCE), 9, values={"k": 0}).model
    with pytest.raises(MismatchError, match="converts to opset 9"):
        verify(made, VerifyOptions())


# How far a model comes -------------------------------------------------------------------------


def test_the_lowest_opset_is_named_with_what_stands_in_the_way() -> None:
    error = failed(parsed(SEQUENCE), 9)
    assert error.reached == 11
    assert error.message == (
        "2 nodes cannot be converted from opset 17 to 9; the model was not changed; the lowest"
        " opset that it reaches is 11; blocking the next: SequenceAt, SequenceConstruct"
    )
    assert convert_version(parsed(SEQUENCE), 11, verify=True)


def test_the_first_of_several_obstacles_is_reported() -> None:
    """The comparison of texts is stuck at 19, the sequence would be at 11."""
    text = SEQUENCE.replace("17", "21").replace("int64 k", "int64 k, string[2] p, string[2] q")
    text = text.replace("float[2] b)", "float[2] b, bool[2] e)")
    error = failed(parsed(text.replace("b = Seq", "e = Equal (p, q) b = Seq")), 9)
    assert error.reached == 19
    assert error.message.endswith("reaches is 19; blocking the next: Equal")
    assert len(error.failures) == 3


def test_a_rewritten_operator_does_not_stop_the_search() -> None:
    """The Optional is rewritten on the way to 11, at which the sequence is stuck."""
    text = """<ir_version: 8, opset_import: ["": 17]> g (float[2] x, int64 k) => (float[2] y) {
            o = Optional (x)
            v = OptionalGetElement (o)
            s = SequenceConstruct (x, v)
            y = SequenceAt (s, k) }"""
    assert failed(parsed(text), 9).reached == 11
    assert failed(parsed(text), 9, rewrite=False).reached == 15


def test_a_model_that_cannot_leave_its_opset() -> None:
    error = failed(parsed(SEQUENCE.replace("17", "11")), 9)
    assert error.reached is None
    assert "; it reaches no other; blocking the next: SequenceAt" in error.message


def test_on_the_way_up_it_is_the_highest() -> None:
    text = """<ir_version: 8, opset_import: ["": 9]>
        g (float[2] x) => (float[2] y) { y = Nothing (x) }"""
    error = failed(parsed(text), 13)
    assert error.reached is None
    assert "it reaches no other; blocking the next: Nothing" in error.message
    text = """<ir_version: 8, opset_import: ["": 11]>
        g (float[1, 1, 2, 2] x, float[8] r, float[4] s) => (float[1, 1, M, N] y) {
            y = Resize <coordinate_transformation_mode = "tf_half_pixel_for_nn"> (x, r, s) }"""
    error = failed(parsed(text), 18)
    assert error.reached == 12
    assert "the highest opset that it reaches is 12; blocking the next: Resize" in str(error)
    assert convert_version(parsed(text), 12)


def test_a_function_that_is_written_in_another_opset_counts() -> None:
    """The function is below the opset that the main graph reaches, and must come up to it."""
    text = """<ir_version: 8, opset_import: ["": 21, "local": 1]>
        g (float[2, 3] x, string[2] p, string[2] q) => (float[2, 3] y, bool[2] e) {
            y = local.double (x)
            e = Equal (p, q) }
        <domain: "local", opset_import: ["": 11]> double (p) => (r) { r = Add (p, p) }"""
    assert failed(parsed(text), 9).reached == 19
    assert convert_version(parsed(text), 19)
    assert failed(parsed(text.replace("Add (p, p)", "Nothing (p)")), 9).reached is None


def test_an_ir_version_that_does_not_fit_is_another_matter() -> None:
    assert failed(parsed(SEQUENCE), 9, ir_version=99).reached is None
    assert failed(parsed(SEQUENCE), 13, ir_version=99).failures == ()


def test_a_model_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(parsed(SEQUENCE), path)
    made = converted_job(path, 10, values={"k": 1})
    assert verify(made, VerifyOptions())[1].equal
    assert isinstance(made.model, ir.Model)


# After passes ----------------------------------------------------------------------------------

LOOP = """<ir_version: 8, opset_import: ["": 17]>
    g (float[2] x, float[2] y, int64 k) => (float[2] b, float[2] u) <int64 n = {2}, bool go = {1}> {
        s = SequenceConstruct (x, y)
        b = SequenceAt (s, k)
        u = Loop (n, go, x) <
            body = l (int64 i, bool c, float[2] v) => (bool d, float[2] w) {
                d = Identity (c)
                w = Exp (v) }> }"""


def test_passes_are_run_first_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    steps = tuple([lambda job, step=step: runs.append(step) or step(job) for step in line.LINE])
    monkeypatch.setattr(line, "LINE", steps)
    made = converted_job(parsed(LOOP), 9, "unroll-loops", values={"k": 1})
    assert {node.op_type for node in made.model.graph.nodes()} == {"Exp", "Identity"}
    assert made.model.opset() == 9
    rewritten = [remark.op_type for remark in made.remarks if remark.action == "rewritten"]
    assert rewritten == ["Loop", "SequenceAt", "SequenceConstruct"]
    assert runs == [line.bind, line.passes, line.convert, line.straighten, line.declare]
    assert verify(made, VerifyOptions(runtime="reference"))[1].equal


def test_each_try_starts_from_the_same_passes() -> None:
    with pytest.raises(ConversionError) as caught:
        converted_job(parsed(LOOP), 9, "unroll-loops")
    assert caught.value.reached == 11


def test_a_wrong_pass_is_named_although_a_conversion_came_after() -> None:
    made = converted_job(parsed(LOOP), 13, [Negating()])
    with pytest.raises(MismatchError, match="pass negating") as caught:
        verify(made, VerifyOptions(runtime="reference"))
    assert caught.value.culprit == "negating"


def test_an_exceeded_limit_is_reported_once() -> None:
    """Sizes that calls would have told are not followed."""
    head = '<domain: "local", opset_import: ["" : 12, "local" : 1]>'
    text = """<ir_version: 7, opset_import: ["" : 12, "local" : 1]>
    g (float[2, 3] x) => (y) { z = local.f (x) y = Softmax <axis = 1> (z) }"""
    text += f"{head} f (a) => (r) {{ r = Neg (a) }}"
    outcome = transform(onnx.parser.parse_model(text), (), opset=13, verify=False, max_work=1)
    assert [(r.op_type, r.path) for r in outcome.remarks if r.pass_name == "budget"] == [("f", "z")]
