"""A case before and after a conversion, in the reference and in onnxruntime."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from straightline import reference
from straightline.dev.benchmarks.session import open_session

from .case import Case


def samples_of(case: Case, model: onnx.ModelProto) -> list[dict[str, Any]]:
    """Numbers for each input: small ones, and special ones where they are floats."""
    found = []
    for special in (False, True):
        rng = np.random.default_rng(special)
        feeds: dict[str, Any] = {}
        for value in model.graph.input:
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            if dtype == np.bool_:
                feeds[value.name] = np.asarray(rng.random(shape) < 0.5)
            elif dtype.kind == "i":
                # They count, choose or pad, so all of them are small.
                feeds[value.name] = rng.integers(0, 2, shape).astype(dtype) + (len(shape) == 1)
            else:
                array = rng.normal(size=shape).astype(dtype)
                if special:
                    array.flat[0], array.flat[-1] = np.inf, np.nan if case.nan else -np.inf
                feeds[value.name] = array
        if case.name.endswith(("run-time indices", "run-time axes", "run-time shape")):
            feeds["k"] = np.zeros_like(feeds["k"])
        found.append(feeds)
    return found


Outputs = list[Any] | None


class Runner:
    """Runs models, each once."""

    def __init__(self) -> None:
        self.known: dict[tuple[bytes, int], tuple[Outputs, Outputs]] = {}
        self.originals: list[tuple[list[Any], list[Any]]] = []

    def run(
        self, model: onnx.ModelProto, samples: Sequence[Mapping[str, Any]]
    ) -> tuple[Outputs, Outputs]:
        """Outputs of the reference and of onnxruntime; None if one does not support the model."""
        key = model.SerializeToString(deterministic=True), id(samples)
        if key not in self.known:
            self.known[key] = in_reference(model, samples), in_onnxruntime(key[0], samples)
        return self.known[key]

    def expected(
        self, model: onnx.ModelProto, samples: Sequence[Mapping[str, Any]]
    ) -> list[list[Any]]:
        """Outputs of an original in the reference and in onnxruntime.

        If onnxruntime lacks the opset, its outputs for the same model in another opset, if the
        reference finds no difference.
        """
        by_definition, in_ort = self.run(model, samples)
        for other, others_in_ort in self.originals:
            if in_ort is None and by_definition and all(map(same, other, by_definition)):
                in_ort = others_in_ort
        if in_ort is not None and by_definition is not None and not self.originals:
            self.originals.append((by_definition, in_ort))
        return [outputs for outputs in (by_definition, in_ort) if outputs is not None]


def in_reference(model: onnx.ModelProto, samples: Sequence[Mapping[str, Any]]) -> Outputs:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return [reference.run(model, feeds)[0] for feeds in samples]
        except reference.EvaluationError:
            return None


def in_onnxruntime(content: bytes, samples: Sequence[Mapping[str, Any]]) -> Outputs:
    try:
        session = open_session(content, optimized=False)
        return [session.run(None, dict(feeds))[0] for feeds in samples]
    except Exception:  # noqa: BLE001  an opset or operator that it does not have
        return None


def same(found: Any, wanted: Any) -> bool:
    """Whether two outputs are equal: floats up to some roundings."""
    one, other = np.asarray(found), np.asarray(wanted)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind != "f":
        return bool(np.array_equal(one, other))
    return bool(np.allclose(one, other, 1e-5, 1e-6, equal_nan=True))


def compare(runner: Runner, before: onnx.ModelProto, after: onnx.ModelProto, samples: Any) -> str:
    """The sign of a conversion that was done.

    Where the reference and onnxruntime differ on the original, of infinities, one of both is right.
    """
    wanted, in_both = runner.expected(before, samples), runner.run(after, samples)
    found = [outputs for outputs in in_both if outputs is not None]
    right = all(
        any(same(one, outputs[index]) for outputs in wanted)
        for results in found
        for index, one in enumerate(results)
    )
    if not right or not wanted or not found:
        return "x"
    return "=" if len(found) == 2 else "r"
