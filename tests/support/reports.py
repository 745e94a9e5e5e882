"""A model of which a report has much to tell: Loops, Ifs, a function, names that copies take."""

import straightline as sl
from straightline import report
from straightline.driver.job import Request
from straightline.driver.line import run
from straightline.driver.options import RewriteOptions
from straightline.driver.suggestions import advise, left_over
from straightline.driver.verify import verify as compared
from straightline.verification.runs.options import VerifyOptions

DECODER = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
decoder (float[1, 4] x, float[1, 4] h, int64 n)
        => (float[1, 4] y, float[1, 4] q, float[T, 1, 4] rows) {
    [count] steps = Constant <value_int = 4> ()
    w = Constant <value = float[4, 4] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}> ()
    [decode] state = Loop (steps, , h) <
        body = step (int64 i, bool go, float[1, 4] h0) => (bool same, float[1, 4] h1) {
            same = Identity (go)
            [project] mixed = MatMul (h0, w)
            shifted = Add (mixed, x)
            two = Constant <value_int = 2> ()
            early = Less (i, two)
            h1 = If (early) <
                then_branch = yes () => (float[1, 4] t) { t = Tanh (shifted) },
                else_branch = no () => (float[1, 4] s) { s = Sigmoid (shifted) } > } >
    yes = Constant <value = bool {1}> ()
    [wait] last, rows = Loop (n, yes, state) <
        body = wait_body (int64 j, bool on, float[1, 4] g0)
                => (bool still, float[1, 4] g1, float[1, 4] g2) {
            still = Identity (on)
            g = Softmax (g0)
            g1 = Mul (g, x)
            g2 = Identity (g1) } >
    y = If (yes) <
        then_branch = normal () => (float[1, 4] s3) { s3 = Softmax (state) },
        else_branch = plain () => (float[1, 4] r3) { r3 = Relu (state) } >
    q = local.gate (last) }
<domain: "local", opset_import: ["" : 17]>
gate (a) => (b) {
    c = Erf (a)
    b = Mul (a, c) }"""


def rewritten(text=DECODER, verify=True):
    """The report of a rewrite with all that it tells."""
    request = Request(sl.ir.parse(text), RewriteOptions())
    made = run(request)
    return report.gather(
        request.source,
        made.model,
        names=("decoder.onnx", "flat.onnx"),
        remarks=made.remarks,
        timings=made.timings,
        hints=advise(request, made.model, left_over(made.model, made.remarks)).hints,
        verdict=compared(made, VerifyOptions())[1] if verify else None,
        command_with=lambda options: " ".join(
            ["straightline rewrite decoder.onnx flat.onnx", *options]
        ),
    )
