"""Loops and Ifs before opset 11.

    rows = Loop (n, go) <body = b (i, c) => (c, r) { r = Identity (x) }>
->
    unused, rows = Loop (n, go, zero) <body = b (i, c, u) => (c, v, r) {
        v = Identity (u)
        r = Identity (x)
    }>
"""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Operator
from ..site import Site
from .registry import Outcome, downgrade

_NUMBER = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ())


@downgrade(11, "Loop")
def carry_something(site: Site) -> Outcome:
    """Before opset 11 a Loop carries at least one value: one that nothing reads will do."""
    if len(site.inputs) > 2:
        return None
    node, body = site.node, site.body("body")
    site.set_input(2, site.const(np.zeros((), np.float32), "carried"))
    info = onnx.helper.make_value_info("carried", _NUMBER)
    given = body.add_input(info.name, info)
    passed = body.add_node(Operator("Identity"), [given], [f"{info.name}_on"]).output()
    condition, *scanned = body.outputs
    first, *others = body.output_infos
    body.set_outputs([condition, passed, *scanned], [first, info, *others])
    site.graph.set_node_outputs(node, [site.label("carried"), *node.outputs])
    return None


@downgrade(11, "If")
def same_branches(site: Site) -> Outcome:
    """Before opset 11 both branches give the same shapes."""
    bodies = (site.body("then_branch"), site.body("else_branch"))
    for one, other in zip(bodies[0].outputs, bodies[1].outputs, strict=True):
        a, b = site.types.shape(one), site.types.shape(other)
        if a is None or b is None:
            continue
        differ = any(x is not None and y is not None and x != y for x, y in zip(a, b, strict=False))
        if len(a) != len(b) or differ:
            site.refuse(f"its branches give the shapes {a} and {b}, and opset 10 wants one")
    return None
