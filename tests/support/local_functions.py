"""What the tests of inlining functions share: texts, and what comes of them."""

import numpy as np
from harness import as_model
from straightline import ir
from straightline.passes import Pipeline, straighten
from straightline.passes.functions.inline_functions import InlineFunctions

HEAD = '<ir_version: 9, opset_import: ["" : 18, "local" : 1]>\n'
LOCAL = '<domain: "local", opset_import: ["" : 18, "local" : 1]>\n'
X = {"x": np.array([1, -2], np.float32)}

CHOOSE = (
    LOCAL
    + """choose (a, c) => (r) {
       h = Neg (a)
       r = If (c) <
          then_branch = t () => (p) { p = Exp (h) },
          else_branch = e () => (q) { q = Abs (h) } > }"""
)

TIMES = (
    LOCAL
    + """times <k> (a) => (r) {
       n = Constant <value_int: int = @k> ()
       r = Loop (n, , a) <body = b (int64 i, bool c, float[N] s) => (bool c, float[N] t) {
          t = Neg (s) }>
    }"""
)


def straightened(text):
    """What the default pipeline makes together with the pass."""
    passes = (*straighten().passes, InlineFunctions())
    loaded = ir.load(as_model(text))
    result = Pipeline(passes, repeat=True).apply(loaded)
    ir.verify(loaded)
    return ir.to_proto(loaded), result


def control_flow(model):
    kinds = ("If", "Loop", "Scan")
    return [n.op_type for g in ir.load(model).graphs() for n in g.nodes() if n.op_type in kinds]
