import numpy as np
from straightline.targets import Form
from tables import table

from targets import fitted, lacking, one_node

WEIGHTS = "float[1, 4, 8, 8] x, float[4, 4, 2, 1] w"
POOL = "y = MaxPool <kernel_shape = [2, 2]> (x)"


@table(
    ("strides", POOL, [1, 1]),
    ("dilations", POOL, [1, 1]),
    ("pads", POOL, [0, 0, 0, 0]),
    ("storage_order", POOL, 0),
    ("strides", "y = Conv (x, w)", [1, 1]),
    ("kernel_shape", "y = Conv (x, w)", [2, 1]),
    ("group", "y = Conv (x, w)", 1),
)
def test_a_default_is_written(name, node, numbers):
    """MNN pools with a stride of the kernel where none is written."""
    target = lacking(forms={node.split()[2]: (Form(written=(name,)),)})
    outcome = fitted(one_node(node, WEIGHTS), target, passes=())
    (left,) = outcome.ir.graph.nodes()
    assert left.attribute(name) == numbers and not outcome.untaken


def test_padding_that_sizes_decide_has_no_default():
    node = 'y = MaxPool <kernel_shape = [2, 2], auto_pad = "VALID"> (x)'
    target = lacking(forms={"MaxPool": (Form(written=("pads",)),)})
    assert not fitted(one_node(node, WEIGHTS), target, passes=()).changed


def test_a_value_that_is_not_written_is_zero():
    text = one_node("y = ConstantOfShape (s)", "int64[2] s")
    target = lacking(forms={"ConstantOfShape": (Form(written=("value",)),)})
    outcome = fitted(text, target, {"s": np.array([2, 3])}, passes=())
    (node,) = outcome.ir.graph.nodes()
    assert "value" in node.op.attributes and not outcome.untaken


@table(
    ('activations = ["Sigmoid", "Tanh"]', False),
    ('activations = ["Sigmoid", "Relu"]', True),
    ("clip = 0.5", True),
    ('direction = "bidirectional", activations = ["Sigmoid", "Tanh", "Sigmoid", "Tanh"]', False),
)
def test_a_default_that_must_not_be_written_is_dropped(attributes, untaken):
    """OpenCV refuses activations, and ignores clip."""
    count = 2 if "bi" in attributes else 1
    inputs = f"float[3, 2, 4] x, float[{count}, 6, 4] w, float[{count}, 6, 2] r"
    text = one_node(f"y = GRU <hidden_size = 2, {attributes}> (x, w, r)", inputs)
    form = Form(unwritten=("activations", "clip"))
    outcome = fitted(text, lacking("Sigmoid", forms={"GRU": (form,)}), passes=())
    assert bool(outcome.untaken) == untaken
    (node,) = outcome.ir.graph.nodes_of("GRU")
    assert untaken or "activations" not in node.op.attributes
