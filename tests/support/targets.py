"""Made-up targets, and what a model becomes for them."""

import datetime

import onnx
from harness import as_model, assert_equal_outputs, check_model
from straightline import ir, transform
from straightline.targets import Opsets, Source, Target

SOURCE = Source("made up for tests", "1", datetime.date(2026, 1, 1))
ALWAYS = (Opsets(1, 99),)


def lacking(*operators, opsets=(13, 21), **told):
    """A target that takes all but some operators."""
    lacks = dict.fromkeys(operators, ALWAYS)
    return Target("npu", "made up", Opsets(*opsets), SOURCE, lacks=lacks, **told)


def taking(*operators, opsets=(13, 21), **told):
    """A target that takes some operators only."""
    listed = dict.fromkeys(operators, ALWAYS)
    return Target("npu", "made up", Opsets(*opsets), SOURCE, operators=listed, **told)


def fitted(text, target, *feeds, **options):
    """The outcome for a target, compared with the original on feeds."""
    outcome = transform(as_model(text), target=target, verify=False, hints=False, **options)
    ir.verify(outcome.ir)
    check_model(outcome.model)
    for feed in feeds:
        assert_equal_outputs(text, outcome.model, feed)
    return outcome


def operators(outcome):
    """The operators that are there, each once, sorted."""
    nodes = (node for graph in outcome.ir.graphs() for node in graph.nodes())
    return sorted({node.op.qualname for node in nodes})


def one_node(node, inputs, opset=17, outputs="y"):
    """A model of one node, with the types of its outputs inferred."""
    imports = onnx.helper.make_opsetid("", opset)
    head = f"<ir_version: {onnx.helper.find_min_ir_version_for([imports])}"
    text = f'{head}, opset_import: ["" : {opset}]> g ({inputs}) => ({outputs}) {{ {node} }}'
    return onnx.shape_inference.infer_shapes(onnx.parser.parse_model(text))
