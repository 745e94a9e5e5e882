import onnx
from straightline.cli.policies import Policies, judge_model, judge_rewrite
from straightline.driver.options import RewriteOptions
from straightline.ir import parse
from straightline.targets import find
from straightline.verification.runs.options import VerifyOptions
from tables import table
from texts import HEADER, LOOP, LOOP_AND_IF, NODE

FLAT = HEADER + NODE % "y = Relu (x)"


def judged(policies, text):
    return [(one.policy, one.problem, one.reason) for one in policies.judge(parse(text))]


@table(
    (Policies(True), FLAT, ("straight-line", "", "")),
    (Policies(True), LOOP_AND_IF, ("straight-line", "control flow left", "Loop 'h'; If 'y'")),
    (Policies(opset=17), FLAT, ("opset", "", "")),
    (Policies(opset=18), FLAT, ("opset", "other opset", "opset 17, not 18")),
    (Policies(max_opset=17), FLAT, ("max-opset", "", "")),
    (Policies(max_opset=16), FLAT, ("max-opset", "other opset", "opset 17, above 16")),
    (Policies(target=find("tvm")), FLAT, ("target", "", "")),
    (Policies(target=find("tvm")), HEADER + LOOP, ("target", "not taken", "tvm lacks Loop")),
)
def test_the_form_of_a_model(policies, text, result):
    assert judged(policies, text) == [result]


def test_a_model_without_operators_of_onnx_satisfies_each_opset():
    head = '<ir_version: 8, opset_import: ["mine" : 1]> '
    text = head + "g (float[2] x) => (float[2] y) { y = mine.F (x) }"
    results = judged(Policies(opset=9, max_opset=9), text)
    assert results == [("opset", "", ""), ("max-opset", "", "")]


def test_the_rewrite_of_a_model():
    def judge(text, **options):
        model = onnx.parser.parse_model(text)
        rewriting = RewriteOptions.of(hints=False, **options)
        results = judge_rewrite(model, rewriting, VerifyOptions(), Policies(True))
        return [(one.policy, one.problem, one.reason) for one in results]

    assert judge(HEADER + LOOP) == [("straight-line", "", ""), ("outputs", "", "proved")]
    straight, outputs = judge(LOOP_AND_IF)
    assert straight[:2] == ("straight-line", "control flow left")
    assert straight[2].startswith("Loop 'h': it is a recurrence whose steps")
    assert "--set n=..." in straight[2]
    assert outputs == ("outputs", "", "proved")


def test_a_reason_is_found_whatever_the_result_calls_the_node():
    body = (
        "b (int64 i, bool c, float[2] a) => (bool d, float[2] e) { d = Identity (c) e = Neg (a) }"
    )
    head = "g (float[2] x, int64 n) => (float[2] y) <bool t = {1}>"
    model = onnx.parser.parse_model(HEADER + f"{head} {{ y = Loop (n, t, x) <body = {body}> }}")
    rewriting = RewriteOptions.of(hints=False)
    straight, _ = judge_rewrite(model, rewriting, VerifyOptions(), Policies(True))
    assert straight.reason.startswith("Loop 'y': it is a recurrence whose steps")
    assert "decide it with --set n=..." in straight.reason


def test_a_model_beside_a_reference():
    def judge(text, **options):
        models = onnx.parser.parse_model(HEADER + NODE % text), onnx.parser.parse_model(FLAT)
        (result,) = judge_model(models[0], Policies(), models[1], {}, VerifyOptions(**options))
        return result.policy, result.problem

    assert judge("y = Relu (x)") == ("outputs", "")
    assert judge("y = Abs (x)", prove="only") == ("outputs", "not verified")
