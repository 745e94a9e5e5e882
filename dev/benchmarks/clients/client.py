"""The clients: what each is called, how it is found, and the opset that it is given."""

import dataclasses
import importlib.metadata
import importlib.util
import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Arrays = Mapping[str, Any]
Run = Callable[[Arrays], Sequence[Any]]
"""A loaded model: inputs by name to outputs in order."""


@dataclasses.dataclass(frozen=True)
class Client:
    """A compiler or runtime that installs from the package registry.

    Attributes:
        name: as in the table, and as `--target` knows it, unless `listed` names another list.
        adapter: the module with its `load(model)`, which gives a Run.
        modules: what must be importable for it.
        packages: whose versions are told.
        programs: what must be on the path for it.
        listed: the target whose list it is given, where it has none of its own.
        environment: the folder of its own environment, where its pins exclude other clients.
        of_node: its package for node, in the folder `node_modules`.
        opset: that of the third step: one which it documents, or takes best.
    """

    name: str
    adapter: str
    modules: tuple[str, ...]
    packages: tuple[str, ...]
    opset: int
    programs: tuple[str, ...] = ()
    listed: str = ""
    environment: str = ""
    of_node: str = ""

    @property
    def target(self) -> str:
        """The name of its list."""
        return self.listed or self.name

    @property
    def python(self) -> Path:
        """The interpreter that imports its adapter."""
        if not self.environment:
            return Path(sys.executable)
        return Path(sys.prefix) / self.environment / "bin" / "python"

    @property
    def obstacle(self) -> str:
        """Which modules and programs are not installed; "" where all are."""
        lacking = [name for name in self.modules if not _is_there(name)]
        lacking += [name for name in self.programs if not shutil.which(name)]
        if not self.python.exists():
            lacking.append(self.environment)
        if self.of_node and not _node_package(self.of_node).exists():
            lacking.append(self.of_node)
        return f"{', '.join(lacking)} not installed" if lacking else ""

    @property
    def versions(self) -> str:
        """Its packages with their versions."""
        if self.of_node:
            package = json.loads(_node_package(self.of_node).read_text(encoding="utf-8"))
            return f"{self.of_node} {package['version']}"
        places = [str(folder) for folder in self.python.parents[1].glob("lib/python*/*-packages")]
        distributions = importlib.metadata.distributions
        return ", ".join(
            f"{one.metadata['Name']} {one.version}"
            for name in self.packages
            for one in distributions(name=name, path=places if self.environment else sys.path)
        )


def _node_package(name: str) -> Path:
    return Path(sys.prefix) / "node_modules" / name / "package.json"


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


_ADAPTERS = f"{__package__}.adapters."

CLIENTS = (
    Client("onnxruntime", _ADAPTERS + "onnxruntime", ("onnxruntime",), ("onnxruntime",), 17),
    Client("openvino", _ADAPTERS + "openvino", ("openvino",), ("openvino",), 17),
    Client("onnx2torch", _ADAPTERS + "onnx2torch", ("onnx2torch", "torch"), ("onnx2torch", "torch"),
     17),
    Client("tvm", _ADAPTERS + "tvm", ("tvm",), ("apache-tvm",), 17),
    Client("iree", _ADAPTERS + "iree", ("iree.compiler", "iree.runtime"),
     ("iree-base-compiler", "iree-base-runtime"), 17),
    Client("tinygrad", _ADAPTERS + "tinygrad", ("tinygrad",), ("tinygrad",), 17, ("clang",)),
    Client("mnn", _ADAPTERS + "mnn", ("MNN",), ("mnn",), 17),
    Client("opencv", _ADAPTERS + "opencv", ("cv2",), ("opencv-python-headless",), 17),
    Client("tract", _ADAPTERS + "tract", ("tract",), ("tract",), 17),
    Client("ncnn", _ADAPTERS + "ncnn", ("ncnn", "pnnx"), ("ncnn", "pnnx"), 17),
    Client("jaxonnxruntime", _ADAPTERS + "jaxonnxruntime", ("jaxonnxruntime", "jax"),
     ("jaxonnxruntime", "jax"), 17),
    Client("onnx2pytorch", _ADAPTERS + "onnx2pytorch", ("onnx2pytorch", "torch"),
     ("onnx2pytorch", "torch"), 17),
    Client("emx", _ADAPTERS + "emx", ("emx_onnx_cgen",), ("emx-onnx-cgen",), 17, ("cc",)),
    Client("onnxruntime-web", _ADAPTERS + "onnxruntime_web", (), (), 17, ("node",),
     of_node="onnxruntime-web"),
    Client("tflite", _ADAPTERS + "tflite", (), ("onnx2tf", "ai-edge-litert"), 17,
     environment="onnx2tf"))  # fmt: skip
