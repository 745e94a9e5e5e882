"""ncnn: its converter pnnx, and the network that it writes, in float32.

pnnx also writes a script that runs the network; it states along which axis each tensor is a batch.
"""

import re
import subprocess
import tempfile
from pathlib import Path

import ncnn
import numpy as np
import onnx
import pnnx

from ..client import Arrays, Run

_BATCHES = re.compile(r"((?:in|out)\d+)\.numpy\((?:\), )?batch_index=(-?\d+)\)")


def load(model: bytes) -> Run:
    proto = onnx.load_model_from_string(model)
    names = [value.name for value in proto.graph.input]
    outputs = [f"out{place}" for place in range(len(proto.graph.output))]
    network = ncnn.Net()
    network.opt.num_threads = 1
    network.opt.use_fp16_packed = network.opt.use_fp16_storage = False
    network.opt.use_fp16_arithmetic = network.opt.use_bf16_storage = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.onnx").write_bytes(model)
        subprocess.run([pnnx.EXEC_PATH, "model.onnx", "fp16=0"], cwd=folder, check=True)
        batches = dict(_BATCHES.findall((folder / "model_ncnn.py").read_text(encoding="utf-8")))
        params, weights = (str(folder / f"model.ncnn.{kind}") for kind in ("param", "bin"))
        if network.load_param(params) or network.load_model(weights):
            raise RuntimeError("the network does not load")

    def run(feeds: Arrays) -> list[np.ndarray]:
        with network.create_extractor() as extractor:
            for place, name in enumerate(names):
                label, array = f"in{place}", np.array(feeds[name], order="C")
                extractor.input(label, ncnn.Mat(array, batch_index=int(batches[label])).clone())
            extracts = {label: extractor.extract(label)[1] for label in outputs}
            return [np.array(m.numpy(batch_index=int(batches[n]))) for n, m in extracts.items()]

    return run
