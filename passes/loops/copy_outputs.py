"""Copy outputs of bodies that onnxruntime would not copy.

y = Scan <num_scan_inputs = 1,              y = Scan <num_scan_inputs = 1,
   body = b (a) => (a) {}> (x)      ->         body = b (a) => (r) { r = Identity (a) }> (x)

onnxruntime 1.32 leaves such an output as it stands in memory (`ops.departures`).
"""

from typing import ClassVar

from ...facts.reason import Message
from ...ir import Graph, Model, Node, Operator
from ...ops.departures import uncopied_outputs
from ...ops.schema_queries import ElementTypes
from ..utils.sites import Site, SitePass

_COPIED = Message(
    "outputs-copied",
    "it returns {values} through an Identity, since onnxruntime does not copy what is an input or"
    " another output of the body",
)


class CopyOutputs(SitePass):
    """Copy outputs of bodies that are inputs or other outputs of them."""

    name: ClassVar[str] = "copy-outputs"
    by_default: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...]] = ("If", "Loop", "Scan")
    sites: ClassVar[tuple[str, ...]] = works_on
    keeps_facts: ClassVar[bool] = True

    def visit(self, site: Site) -> None:
        """Copy outputs of the bodies of one construct."""
        names = {}
        for body, place in _places(site.node):
            outputs = list(body.outputs)
            value = outputs[place]
            names[f"'{value.name}'"] = True
            copy = body.add_node(Operator("Identity"), [value], [f"{value.name}_copy"])
            outputs[place] = copy.output()
            body.set_outputs(outputs)
        if names:
            site.rewritten(_COPIED(values=", ".join(names)))

    def violation(self, model: Model) -> str | None:
        """Return the constructs with such outputs."""
        nodes = [n for g in model.graphs() for op in self.sites for n in g.nodes_of(op)]
        return ", ".join(n.label for n in nodes if _places(n)) or None


def _places(node: Node) -> list[tuple[Graph, int]]:
    types = ElementTypes()
    return [
        (body, place)
        for name in node.bodies
        for body in node.bodies[name]
        for place in uncopied_outputs(node.op_type, body.inputs, body.outputs)
        # A branch may return a sequence, of which opset 13 has no Identity.
        if not node.is_op("If") or types.of(body.outputs[place])
    ]
