"""ONNX Runtime Web in node: the WebAssembly that runs in browsers, on the processor.

Its package is looked up in `node_modules` of this environment. Arrays go to node and back as lines
of JSON, their bytes as base64.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from ..client import Arrays, Run

_SCRIPT = """
const ort = require("onnxruntime-web");
const kinds = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array,
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
};
let session;
async function answer(job) {
  if (!session) {
    const options = {executionProviders: ["wasm"], logSeverityLevel: 4};
    session = await ort.InferenceSession.create(job.model, options);
    return {names: session.outputNames};
  }
  const feeds = {};
  for (const [name, {kind, dims, data}] of Object.entries(job.feeds)) {
    const bytes = Uint8Array.from(Buffer.from(data, "base64"));  // aligned, unlike the buffer
    feeds[name] = new ort.Tensor(kind, new kinds[kind](bytes.buffer), dims);
  }
  const results = await session.run(feeds);
  return {outputs: session.outputNames.map((name) => {
    const {type, dims, data} = results[name];
    const bytes = type === "string" ? Buffer.from(JSON.stringify(data)) : Buffer.from(
      data.buffer, data.byteOffset, data.byteLength);
    return {kind: type, dims, data: bytes.toString("base64")};
  })};
}
const lines = require("readline").createInterface({input: process.stdin});
(async () => {
  for await (const line of lines) {
    const said = await answer(JSON.parse(line)).catch((error) => ({error: error.message}));
    require("fs").writeSync(3, JSON.stringify(said) + "\\n");
  }
})();
"""


def load(model: bytes) -> Run:
    inputs = {value.name for value in onnx.load_model_from_string(model).graph.input}
    # What node and the runtime print goes elsewhere: answers have a pipe of their own.
    read, write = os.pipe()
    command = ["sh", "-c", f'exec node -e "$0" 3>&{write}', _SCRIPT]
    node = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        pass_fds=[write],
        env={**os.environ, "NODE_PATH": str(Path(sys.prefix) / "node_modules")},
        text=True,
    )
    os.close(write)
    answers = os.fdopen(read)

    def ask(**job: Any) -> Any:
        assert node.stdin
        print(json.dumps(job), file=node.stdin, flush=True)
        line = answers.readline()
        said = json.loads(line) if line else {"error": f"node ended with {node.wait()}"}
        if "error" in said:
            raise RuntimeError(said["error"])
        return said

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        file.write_bytes(model)
        ask(model=str(file))

    def run(feeds: Arrays) -> list[np.ndarray]:
        arrays = {name: _packed(np.asarray(feeds[name])) for name in inputs}
        return [_unpacked(**one) for one in ask(feeds=arrays)["outputs"]]

    return run


def _packed(array: np.ndarray) -> dict[str, Any]:
    data = base64.b64encode(array.tobytes()).decode()
    return {"kind": array.dtype.name, "dims": array.shape, "data": data}


def _unpacked(kind: str, dims: list[int], data: str) -> np.ndarray:
    content = base64.b64decode(data)
    if kind == "string":
        return np.array(json.loads(content), object).reshape(dims)
    return np.frombuffer(content, kind).reshape(dims)
