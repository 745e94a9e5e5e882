"""Former passes for Scans, which are names of conversions between opsets 8 and 9."""

from typing import ClassVar

from ..facts.reason import Message
from ..ir import Model, load
from ..passes import Pass, PassContext
from ..passes.base import Part
from .conversion import Convert
from .errors import ConversionError

_CONVERTED = Message("scan-converted", "converted to opset {opset}")
_REFUSED = Message("scan-not-converted", "{cause}")


class _ConvertScans(Pass):
    """Convert a model between opsets 8 and 9, if every node can be carried over."""

    changes: ClassVar[tuple[Part, ...]] = ("inputs", "opsets", "functions")
    adds: ClassVar[tuple[str, ...]] = ("Loop", "Scan", "If")
    versions: ClassVar[tuple[int, int]]

    def run(self, model: Model, context: PassContext) -> bool:
        """Convert the model, or keep all of it."""
        source, target = self.versions
        scans = [node for graph in model.graphs() for node in graph.nodes_of("Scan")]
        if model.opset() != source or not scans:
            return False
        copy = load(model)  # a conversion that fails leaves its model half converted
        try:
            Convert(target).run(copy, context)
        except ConversionError as error:
            faults = [f"{f.op_type} '{f.path}': {f.reason}" for f in error.failures] or [str(error)]
            for scan in scans:
                context.kept(self, scan, _REFUSED(faults[0]))
            return False
        for scan in scans:
            context.rewritten(self, scan, scan.path, _CONVERTED(opset=target))
        model.become(copy)
        context.remarks.follow(model)
        return True


class Scan8To9(_ConvertScans):
    """Convert a model with Scans from opset 8 to opset 9."""

    name: ClassVar[str] = "scan-8-to-9"
    versions: ClassVar[tuple[int, int]] = (8, 9)


class Scan9To8(_ConvertScans):
    """Convert a model with Scans from opset 9 to opset 8."""

    name: ClassVar[str] = "scan-9-to-8"
    versions: ClassVar[tuple[int, int]] = (9, 8)
