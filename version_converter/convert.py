"""Conversion of a whole model from one opset version to another."""

import logging
from functools import partial

from ..analysis.shapes.inference import ShapeInference
from ..ir import MAX_OPSET, Function, Model, Node
from ..ir.kinds import takes
from ..passes import Progress, Remark
from ..passes.cleanup.eliminate_dead_nodes import sweep, unread
from ..passes.utils.declarations import declare_slices
from ..reference.signature import all_nodes
from .declaring import declare_results
from .engine import Engine
from .errors import ConversionError
from .ir_version import set_ir_version
from .kept_signs import keep_signs, selects_of
from .restoration import Restoration
from .schemas import OLDEST, changes
from .types import Types
from .unblock import straighten_additions

_log = logging.getLogger(__name__)


@takes(model=Model)
def convert(
    model: Model,
    target_opset: int,
    ir_version: int | None = None,
    progress: Progress | None = None,
    *,
    restores: bool = True,
    remarks: list[Remark] | None = None,
) -> Model:
    """Convert a model of one's own in place; see `straightline.convert_version`.

    Loops that longer forms consist of are straightened where the default passes can do so.

    Args:
        model: the model.
        target_opset: the opset.
        ir_version: the IR version; by default that of the opset.
        progress: called now and then.
        restores: going up, restore operators whose longer forms a conversion down wrote.
        remarks: takes the remarks on straightened loops.

    Raises:
        ConversionError: the versions are out of range, or nodes cannot be carried over; its
            `failures` list every such node with its operator, the two versions and the reason. The
            model is then unusable.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> sl.versions.convert(model, 13).opset()
        13
    """
    check_whole_number("target_opset", target_opset)
    if ir_version is not None:
        check_whole_number("ir_version", ir_version)
    _check_range(model, target_opset)
    _check_training(model, target_opset)
    source, selects = model.opset(), selects_of(model)
    additions = _carry(model, target_opset, progress, restores=restores)
    if additions:
        straightened = straighten_additions(model, additions)
        if remarks is not None:
            remarks += straightened
    _declare_scans(model)
    keep_signs(model, selects)
    declare_slices(model, lambda: ShapeInference(model).fact)
    set_ir_version(model, source or target_opset, target_opset, ir_version)
    return model


def _declare_scans(model: Model) -> None:
    """Declare the outputs of Scan bodies: onnxruntime refuses one whose rank it does not infer."""
    scans = [node for graph in model.graphs() for node in graph.nodes_of("Scan")]
    if scans:
        declare_results(scans, Types(model))


def check_whole_number(name: str, value: object) -> None:
    """Check that an opset or version is an integer.

    Raises:
        ConversionError: it is not an integer.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise ConversionError(f"{name} must be a whole number, not {value!r}")


def _check_range(model: Model, target: int) -> None:
    for root in model.roots():
        if root.opset() > MAX_OPSET:
            raise ConversionError(
                f"{root} is written in opset {root.opset()}; the installed onnx knows {MAX_OPSET}"
            )
    if not OLDEST <= target <= MAX_OPSET:
        raise ConversionError(
            f"the target is opset {target}; models are converted to {OLDEST} to {MAX_OPSET}"
        )


def _check_training(model: Model, target: int) -> None:
    """Refuse training graphs, which stay as they are, where an operator changes its meaning."""
    for info in model.training_info:
        for graph in (info.initialization, info.algorithm):
            for node in all_nodes(graph.node):
                if node.domain in ("", "ai.onnx") and changes(node.op_type, model.opset(), target):
                    raise ConversionError(
                        f"{node.op_type} '{node.name}' of the training information is not the same"
                        f" in opset {target}; training graphs are not converted"
                    )


def _carry(
    model: Model, target: int, progress: Progress | None = None, *, restores: bool = True
) -> list[Node]:
    """Convert the nodes of all graphs and functions, or report which cannot be converted.

    Returns: the nodes with bodies that stand for nodes without any.
    """
    source = model.opset()
    roots = [root for root in model.roots() if root.opset()]
    if all(root.opset() == target for root in roots):
        return []
    sources = {root: root.opset() for root in roots}
    engine = Engine(model)
    # Nodes that nothing read before stay: only remains of the conversion go.
    unread_before = set().union(*[unread(root.graph) for root in roots])
    for root in roots:
        _log.info("converting %s from opset %d to %d", root, root.opset(), target)
        engine.convert(root, target, progress)
        # A model with a failure is thrown away.
        if not engine.failures:
            sweep(root.graph, unread_before)
    if engine.failures:
        # What stands for one node may fail in several places.
        count = len({failure.path for failure in engine.failures})
        raise ConversionError(
            f"{count} {'node' if count == 1 else 'nodes'} cannot be converted from opset"
            f" {source} to {target}; the model was not changed",
            engine.failures,
        )
    if restores:
        for root in roots:
            _restore(model, root, sources[root])
    return [node for node in engine.additions if node.stands]


def _restore(model: Model, root: Model | Function, source: int) -> None:
    """Restore the operators whose longer forms a conversion down wrote."""
    target = root.opset()
    if OLDEST <= source < target:
        restoration = Restoration(model, source, target, partial(_carry, restores=False))
        for graph in root.graph.walk():
            restoration.run(graph)
