"""What every pass relies on, checked once when a model is loaded.

Names are text; tensors and types are of types that ONNX knows; nodes of ONNX's own operators have
the inputs, outputs and attributes that their schemas demand; no function of the model calls itself.
What ONNX has no schema for is passed through untouched.

One walk over the message, linear in it. Nodes of the same form are decided once.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx

from ..errors import ModelError
from .calls import Calls
from .graphs import GraphChecker
from .places import Place, key_of
from .schemas import Forms
from .text import first_odd_text, has_odd_text

_NEWEST = onnx.defs.onnx_opset_version()
_MANY = 2**31 - 1
_LARGE = ("graph", "functions", "training_info")


def check_well_formed(proto: onnx.ModelProto) -> None:
    """Check a message.

    Raises:
        ModelError: it is not well formed; the error names the place.
    """
    try:
        _check(proto)
    except TypeError as error:  # text was joined that was no text
        odd = first_odd_text(proto)
        if odd is None:
            raise
        raise ModelError(odd) from error


def _check(proto: onnx.ModelProto) -> None:
    if has_odd_text(proto, _LARGE):
        raise ModelError(str(first_odd_text(proto)))
    functions = {key_of(f.domain, f.name, f.overload): f for f in proto.functions}
    calls = Calls(functions)
    where = f"model '{proto.graph.name}'"
    forms = _forms(proto.opset_import, proto.ir_version, where)
    main = GraphChecker(forms, calls, None)
    main.check(proto.graph, Place.of_graph(proto.graph.name))
    for info in proto.training_info:
        for graph in (info.initialization, info.algorithm):
            main.check(graph, Place.of_graph(graph.name))
    for key, function in functions.items():
        where = f"function '{function.domain}::{function.name}'"
        forms = _forms(function.opset_import, proto.ir_version, where)
        GraphChecker(forms, calls, key).check_function(function)
    calls.check()


def _forms(imports: Iterable[onnx.OperatorSetIdProto], ir_version: int, where: str) -> Forms:
    # Below IR version 3 nothing was imported: everything was opset 1.
    version = 1 if ir_version < 3 else 0
    for entry in imports:
        if entry.domain in ("", "ai.onnx"):
            version = entry.version
            if not 1 <= version <= _NEWEST:
                raise ModelError(
                    f"{where} imports opset {version}; known are 1 to {_NEWEST}"
                    " (a newer onnx package may know it)"
                )
        elif not -_MANY <= entry.version <= _MANY:
            raise ModelError(f"{where} imports version {entry.version} of domain '{entry.domain}'")
    return Forms(version, where)
