"""emx-onnx-cgen: C that the C compiler of the system makes a program of.

It compiles its 170 templates for each model, most of the time of a small one: they are kept here.
"""

from types import CodeType
from typing import Any

import numpy as np
import onnx
from emx_onnx_cgen.compiler import Compiler
from emx_onnx_cgen.onnx_backend.backend import EmxOnnxCgenBackend
from jinja2 import Environment

from ..client import Arrays, Run

_templates: dict[str, CodeType] = {}
_compile = Environment.compile


def _compiled(environment: Environment, source: str, *args: Any, **options: Any) -> CodeType:
    if source not in _templates:
        _templates[source] = _compile(environment, source, *args, **options)
    return _templates[source]


Environment.compile = _compiled
_ANY = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
Compiler().compile(onnx.parser.parse_model(_ANY))  # once, for all children


def load(model: bytes) -> Run:
    proto = onnx.load_model_from_string(model)
    names = [value.name for value in proto.graph.input]
    program = EmxOnnxCgenBackend.prepare(proto)

    def run(feeds: Arrays) -> list[np.ndarray]:
        return list(program.run([np.asarray(feeds[name]) for name in names]))

    return run
