"""What every pass relies on, checked once when a model is loaded.

Names are text; tensors and types are of types that ONNX knows; nodes of ONNX's own operators have
the inputs, outputs and attributes that their schemas demand; no function of the model calls itself.
What ONNX has no schema for is passed through untouched.

One walk over the message, linear in it. Nodes of the same form are decided once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import onnx

from ..errors import ModelError
from ..io.protobuf.opset_imports import Imports, imports_of
from ..places import Place, key_of
from ..tensor_contents import Types
from ..valid_text import first_odd_text, has_odd_text
from .calls import Calls
from .graphs import GraphChecker
from .schemas import Forms

_NEWEST = onnx.defs.onnx_opset_version()
_MANY = 2**31 - 1
_LARGE = ("graph", "functions", "training_info")


def check_well_formed(proto: onnx.ModelProto) -> None:
    """Check a message.

    Raises:
        ModelError: it is not well formed; the error names the place.
    """
    with text_checked(proto):
        frame = Frame(proto)
        for function in proto.functions:
            checker = frame.of_function(function, imports_of(function.opset_import))
            checker.check_nodes(function.node)
            checker.close()
        frame.main.check_nodes(proto.graph.node)
        frame.finish()


@contextlib.contextmanager
def text_checked(proto: onnx.ModelProto) -> Iterator[None]:
    """Say which text of a message is none, where that was come across.

    Raises:
        ModelError: there is one.
    """
    try:
        yield
    except TypeError as error:  # text was joined that was no text
        odd = first_odd_text(proto)
        if odd is None:
            raise
        raise ModelError(odd) from error


class Frame:
    """All of a message but its functions and the nodes of its main graph, checked. Who reads those
    checks each just before, which spares a walk.

    Attributes:
        main: checks nodes of the main graph.

    Raises:
        ModelError: it is not well formed.
        TypeError: a text is no text.
    """

    def __init__(self, proto: onnx.ModelProto) -> None:
        if has_odd_text(proto, _LARGE):
            raise ModelError(str(first_odd_text(proto)))
        self._ir_version = proto.ir_version
        self._calls = Calls(proto.functions)
        self._types = Types()
        self._forms: dict[Imports, Forms] = {}
        name = proto.graph.name
        forms = self._forms_of(imports_of(proto.opset_import), f"model '{name}'")
        self.main = GraphChecker(forms, self._calls, self._types, Place(name))
        self.main.check_frame(proto.graph, self.main.place)
        for info in proto.training_info:
            for graph in (info.initialization, info.algorithm):
                self.main.check(graph, Place(graph.name))

    def of_function(self, function: onnx.FunctionProto, imports: Imports) -> GraphChecker:
        """Check a function, and give what checks its nodes. Errors as the constructor."""
        domain, name = function.domain, function.name
        forms = self._forms.get(imports)
        if forms is None:
            "".join([domain for domain, *_ in imports])
            forms = self._forms_of(imports, f"function '{domain}::{name}'")
            self._forms[imports] = forms
        root = key_of(domain, name, function.overload)
        checker = GraphChecker(forms, self._calls, self._types, Place(name, domain), root)
        checker.check_function(function)
        return checker

    def _forms_of(self, imports: Imports, where: str) -> Forms:
        # Below IR version 3 nothing was imported: everything was opset 1.
        version = 1 if self._ir_version < 3 else 0
        for domain, given, _ in imports:
            if domain in ("", "ai.onnx"):
                version = given
                if not 1 <= version <= _NEWEST:
                    raise ModelError(
                        f"{where} imports opset {version}; known are 1 to {_NEWEST}"
                        " (a newer onnx package may know it)"
                    )
            elif not -_MANY <= given <= _MANY:
                raise ModelError(f"{where} imports version {given} of domain '{domain}'")
        return Forms(version)

    def finish(self) -> None:
        """Check what is seen in the end only: that calls fit. Errors as the constructor."""
        self._calls.check()
