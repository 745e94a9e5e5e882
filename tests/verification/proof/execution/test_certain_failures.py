import numpy as np
import onnx
import pytest
from proofs import model
from sessions import open_session
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator
from straightline.ops import rules_of
from straightline.verification.proof.execution.certain_failures import must_fail
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms

CELL = {"LSTM": 4, "GRU": 3, "RNN": 1}
NODES = {
    **{op: (f"y = {op} <hidden_size = 1> (a, b, c)", (3, 3, 3)) for op in CELL},
    "Gemm": ("y = Gemm (a, b)", (2, 2)),
    "Transpose": ("y = Transpose <perm = [1, 0]> (a)", (2,)),
    "Conv": ("y = Conv (a, b)", (3, 3)),
    "DepthToSpace": ("y = DepthToSpace <blocksize = 1> (a)", (4,)),
    "SpaceToDepth": ("y = SpaceToDepth <blocksize = 1> (a)", (4,)),
    "NonMaxSuppression": ("y = NonMaxSuppression (a, b)", (3, 3)),
}


def shape(op_type, place, rank):
    """Sizes with which the operator runs, cut or extended to a rank."""
    if op_type == "NonMaxSuppression":
        full = ((1, 1, 4), (1, 1, 1))[place]
    else:
        full = (1, CELL.get(op_type, 1) if place else 1, 1, 1)
    return (*full, 1, 1)[:rank]


@pytest.mark.parametrize("op_type", NODES)
def test_ranks_that_are_refused_fail_and_others_run(op_type):
    text, ranks = NODES[op_type]
    names = "abc"[: len(ranks)]
    proto = model(f"g ({', '.join(f'float {n}' for n in names)}) => (y) {{ {text} }}", opset=16)
    for info in proto.graph.input:
        info.type.tensor_type.ClearField("shape")
    kind = onnx.TensorProto.INT64 if op_type == "NonMaxSuppression" else onnx.TensorProto.FLOAT
    proto.graph.output[0].type.tensor_type.elem_type = kind
    runner, op = open_session(proto), Operator.make(op_type, **attributes(proto))
    for place in range(len(ranks)):
        for rank in range(6):
            tried = [rank if k == place else r for k, r in enumerate(ranks)]
            sizes = [shape(op_type, k, r) for k, r in enumerate(tried)]
            feeds = {n: np.ones(s, np.float32) for n, s in zip(names, sizes, strict=True)}
            if rules_of(op).refuses(op, tried):
                with pytest.raises(Exception, match=r"(?i)dim|rank|3D|shape"):
                    runner.run(None, feeds)
            else:
                runner.run(None, feeds)


def attributes(proto):
    node = proto.graph.node[0]
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def test_an_operator_on_a_tensor_of_unknown_rank_may_run():
    terms = Terms(Budget())
    known, unknown = (
        terms.leaf("input", name, Fact(1, shape))
        for name, shape in (("k", (Dimension.symbol("N"),) * 4), ("u", None))
    )
    head = terms.heads.of(Operator.make("LSTM", hidden_size=1), {"": 14})
    assert must_fail(head, (known, unknown, unknown))
    assert not must_fail(head, (unknown, unknown, unknown, None))
