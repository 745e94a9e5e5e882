"""straightline rewrites ONNX models so that control flow disappears or changes form, and proves
that the outputs stayed the same."""

from . import ir, passes, reference
from .api import rewrite
from .ir import Error
from .passes import Pipeline, Remark, Result

__all__ = ["Error", "Pipeline", "Remark", "Result", "ir", "passes", "reference", "rewrite"]
