"""Signs of zeros in the Wheres that adapters and decompositions write.

onnxruntime's Where makes 0.0 of a -0.0 of its first value (`ops.departures`). The readers of a new
Where are known only once the whole model is written, so this comes last.

    y = Where (c, a, b)   z = Reciprocal (y)
->  y = Max (Where (not c, -inf, a), Where (c, -inf, b))   z = Reciprocal (y)
"""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from ..analysis.constants.folding import Folder
from ..analysis.shapes.inference import ShapeInference
from ..facts.types import FLOATS
from ..ir import Fold, Model, Node, Operator, Value
from ..ops.builder import Builder
from ..ops.operand_view import ValueOperand, may_hold_negative_zero
from ..ops.schema_queries import ElementTypes
from ..passes.cleanup.eliminate_dead_nodes import sweep, unread
from ..passes.utils.zero_signs import tells_signs
from .types import Types

FORMS = ("Where", "Max", "Xor")
"""The operators of a select that keeps signs."""


def selects_of(model: Model) -> frozenset[Operator]:
    """The operators of the Wheres of a model."""
    return frozenset(node.op for graph in model.graphs() for node in graph.nodes_of("Where"))


def lossy_selects(model: Model, places: Sequence[int] = (1,)) -> Iterator[Node]:
    """Yield each Where of which a reader may see a lost sign of zero.

    Args:
        places: the inputs that may lose it.
    """
    types, by_calls = ElementTypes(), None
    for node in [node for graph in model.graphs() for node in graph.nodes_of("Where")]:
        operands = [ValueOperand(_input(node, place), types) for place in places]
        if any(map(may_hold_negative_zero, operands)) and tells_signs(node.output()):
            by_calls = by_calls or Types(model)  # the operands of a function have types in calls
            if by_calls.elem_type(_input(node, 1)) in (*FLOATS, None):
                yield node


def keep_signs(model: Model, old: Container[Operator]) -> None:
    """Rewrite the new Wheres that lose a sign of zero for some reader.

    Args:
        model: the model, changed in place.
        old: the operators of Wheres that stay.
    """
    nodes = [node for node in lossy_selects(model, (1, 2)) if node.op not in old]
    if not nodes:
        return
    before = set().union(*[unread(root.graph) for root in model.roots()])
    rewriter = _Rewriter(Types(model), ShapeInference(model), Folder(model).fold)
    for node in nodes:
        rewriter.rewrite(node)
    for root in model.roots():  # constants whose opposites are constants
        sweep(root.graph, before)


class _Rewriter(NamedTuple):
    """Rewriter of Wheres to selects that keep signs.

    Attributes:
        types: types of values, in functions by their calls.
        shapes: an inference that does not trust the declarations of bodies.
        fold: computes nodes whose inputs are constants.
    """

    types: Types
    shapes: ShapeInference
    fold: Fold

    def rewrite(self, node: Node) -> None:
        """Replace a Where by the select that keeps signs, if that is another one."""
        graph, old = node.parent, node.output()
        emitter = Builder(graph, self.fold, replaces=[node])
        emitter.shape_of = lambda value: self.shapes.fact(value).shape
        condition, one, other = (_input(node, place) for place in range(3))
        elem_type = self.types.elem_type(one)
        if elem_type not in FLOATS or not emitter.loses_sign(condition, one, other):
            return
        graph.supersede(old, emitter.select(condition, one, other, old.name, elem_type))
        graph.remove(node)


def _input(node: Node, place: int) -> Value:
    value = node.operand(place)
    return value
