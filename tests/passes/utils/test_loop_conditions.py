import onnx
import pytest
import straightline as sl

BODY = "e = Loop (n, yes, x) <body = b (int64 i, bool c, float[3] a) => (bool {0}, float[3] f) "
MODEL = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[3] x, int64 n) => (float[3] e) <bool yes = {{1}}> {{ {0} }}"""


def returned(text, *passes):
    model = sl.rewrite(onnx.parser.parse_model(text), *passes)
    (loop,) = (node for node in model.graph.node if node.op_type == "Loop")
    (body,) = (each.g for each in loop.attribute if each.name == "body")
    return body.output[0].name, body.input[1].name


@pytest.mark.parametrize("passes", [(), ("simplify",)])
@pytest.mark.parametrize("source", ["c", "yes"])
def test_a_condition_of_its_own_stays_one(passes, source):
    text = MODEL.format(
        BODY.format("d") + f"{{ d = Identity ({source}) s = Sin (a) f = Cos (s) }}>"
    )
    result, condition = returned(text, *passes)
    assert result != condition


def test_a_body_that_returned_its_condition_before_is_left_alone():
    result, condition = returned(MODEL.format(BODY.format("c") + "{ s = Sin (a) f = Cos (s) }>"))
    assert result == condition
