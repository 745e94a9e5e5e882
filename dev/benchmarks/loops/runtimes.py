"""Runtimes in which models are measured, on one thread each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..session import open_session
from .case import Arrays


class Session(Protocol):
    """A loaded model."""

    def run(self, outputs: None, feeds: Arrays) -> Sequence[np.ndarray]:
        """Return all outputs."""


OpenSession: TypeAlias = Callable[[bytes], Session]
"""Loads the bytes of a model; raises whatever the runtime raises for one that it refuses."""


class _InOpenVino:
    def __init__(self, model: bytes) -> None:
        import openvino  # only where it is asked for: an extra

        core = openvino.Core()
        # Some processors multiply in bfloat16 unless asked for 32-bit floats.
        options = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
        self._model: Any = core.compile_model(core.read_model(model), "CPU", options)

    def run(self, outputs: None, feeds: Arrays) -> Sequence[np.ndarray]:
        # A tensor has the names of all values that are it.
        names = [next(iter(one.names & feeds.keys())) for one in self._model.inputs]
        return list(self._model([feeds[name] for name in names]).values())


RUNTIMES: Mapping[str, OpenSession] = {"onnxruntime": open_session, "openvino": _InOpenVino}
