"""Copy outputs of loop bodies that onnxruntime would not copy.

y = Scan <num_scan_inputs = 1,              y = Scan <num_scan_inputs = 1,
   body = b (a) => (a) {}> (x)      ->         body = b (a) => (r) { r = Identity (a) }> (x)

onnxruntime 1.32 leaves such an output as it stands in memory (`ops.departures`).
"""

from typing import ClassVar

from ...facts.reason import Message
from ...ir import Model, Node, Operator
from ...ops.departures import uncopied_outputs
from ..utils.sites import Site, SitePass

_COPIED = Message(
    "outputs-copied",
    "its body returns {values} through an Identity, since onnxruntime does not copy what is an"
    " input or another output of the body",
)


class CopyOutputs(SitePass):
    """Copy outputs of loop bodies that are inputs or other outputs of them."""

    name: ClassVar[str] = "copy-outputs"
    by_default: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...]] = ("Loop", "Scan")
    sites: ClassVar[tuple[str, ...]] = works_on
    keeps_facts: ClassVar[bool] = True

    def visit(self, site: Site) -> None:
        """Copy outputs of one body."""
        if "body" not in site.node.bodies:
            return
        body = site.node.body("body")
        outputs, places = list(body.outputs), _places(site.node)
        for place in places:
            value = outputs[place]
            copy = body.add_node(Operator("Identity"), [value], [f"{value.name}_copy"])
            outputs[place] = copy.output()
        if places:
            names = ", ".join(dict.fromkeys(f"'{body.outputs[place].name}'" for place in places))
            body.set_outputs(outputs)
            site.rewritten(_COPIED(values=names))

    def violation(self, model: Model) -> str | None:
        """Return the constructs with such outputs."""
        nodes = [n for g in model.graphs() for op in self.sites for n in g.nodes_of(op)]
        return ", ".join(n.label for n in nodes if "body" in n.bodies and _places(n)) or None


def _places(node: Node) -> list[int]:
    body = node.body("body")
    return uncopied_outputs(node.op_type, body.inputs, body.outputs)
