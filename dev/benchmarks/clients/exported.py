"""Models of a folder, each with its inputs: NAME.onnx and NAME.npz."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import straightline as sl

from .adapters.onnxruntime import load
from .corpus import Subject


def exported(folder: Path, only: str = "") -> Iterator[Subject]:
    """Yield the models of a folder whose names hold a text, with the outputs of onnxruntime.

    A model that onnxruntime does not run is omitted, with a line.
    """
    for file in sorted(folder.glob("*.onnx")):
        if only in file.stem and file.with_suffix(".npz").exists():
            model = onnx.load(file)
            try:
                with np.load(file.with_suffix(".npz")) as arrays:
                    feeds = {name: arrays[name] for name in arrays.files}
                expected = list(load(model.SerializeToString())(feeds))
            except Exception as error:  # noqa: BLE001 - onnxruntime raises its own kinds
                print(f"{file.stem} is left out: {str(error)[:200]}", file=sys.stderr, flush=True)
                continue
            yield Subject(file.stem, model, sl.transform(model).model, feeds, {}, None, expected)
