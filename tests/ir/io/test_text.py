import pytest
from straightline import ir
from straightline.ir import LoadError, ModelError
from tables import table

TEXT = """<ir_version: 10, opset_import: ["": 21]>
main (bool c, float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> {
    y = If (c) <
        then_branch = yes () => (float[3] p) { p = Add(x, w) },
        else_branch = no () => (float[3] q) { q = Neg(x) } > }"""


def test_printing_and_parsing_again() -> None:
    model = ir.parse(TEXT)
    text = ir.to_text(model)
    assert ir.to_text(ir.parse(text)) == text
    assert ir.to_proto(ir.parse(text)) == ir.to_proto(model)


@table(
    "",
    "nonsense",
    TEXT[:-20],
    TEXT.replace("10,", "99999999999999999999,"),
    TEXT.replace("{1, 2, 3}", "{1, 2, 1e9999}"),
    "\0",
)
def test_text_that_is_no_model(text: str) -> None:
    with pytest.raises(LoadError, match="the text is not a model") as error:
        ir.parse(text)
    assert "\n" not in str(error.value)


def test_a_model_that_is_not_well_formed() -> None:
    with pytest.raises(ModelError, match="reads 'z', which nothing defines"):
        ir.parse(TEXT.replace("Neg(x)", "Neg(z)"))


def test_elements_of_large_tensors_can_be_left_out() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "l" : 1]>
    g (float[3] x, bool c) => (float[3] y) <float[3] w = {7, 7, 7}, float[2] s = {8, 8}> {
        y = If (c) <
            then_branch = t () => (float[3] a) {
                k = Constant <value = float[3] {7, 7, 7}> ()
                a = Add (x, k)
            },
            else_branch = e () => (float[3] b) { b = l.f (w) } > }
    <domain: "l", opset_import: ["" : 17]>
    f (p) => (q) { k = Constant <value = float[3] {7, 7, 7}> () q = Add (p, k) }"""
    model = ir.parse(text)
    shown = ir.to_text(model, most=2)
    assert "7" not in shown.replace("17", "") and "{8,8}" in shown and "float[3] w" in shown
    assert ir.to_text(model).replace("17", "").count("7") == 9
