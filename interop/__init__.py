"""straightline among other tools: onnx_ir's passes here, our passes there, onnxscript's rules.

import onnx_ir.passes.common as common
from straightline import interop

theirs = onnx_ir.passes.Sequential(
    interop.as_onnx_ir_pass("straighten", values={"n": 3}),
    common.CommonSubexpressionEliminationPass(),
)
outcome = sl.transform(model, ["..."])  # and the other way round: interop.step(...)
"""

from ..passes.manager.adapt_passes import onnxscript_optimizer, step
from .export_passes import StraightlinePass, as_onnx_ir_pass

__all__ = ["StraightlinePass", "as_onnx_ir_pass", "onnxscript_optimizer", "step"]
