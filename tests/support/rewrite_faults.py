"""The faults of rewrites of one Loop or Scan: other outputs, an invalid model.

A Loop may be kept, and a conversion refused; any other exception passes through. Where onnxruntime
departs from the reference on the original, the rewrite is compared by the reference alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import straightline as sl
from harness import check_model
from sessions import open_session
from straightline import reference

LARGEST = 1e6
"""A larger number is on its way to infinity, and may get there earlier if a rewrite rounds."""

WAYS: dict[str, Callable[[onnx.ModelProto], onnx.ModelProto]] = {
    "default": lambda model: sl.rewrite(model, verify=False),
    "accelerate": lambda model: sl.rewrite(model, "accelerate", verify=False),
    "selects": lambda model: sl.rewrite(model, "selects", verify=False),
    "simplify": lambda model: sl.rewrite(model, "simplify", verify=False),
    "opset 9": lambda model: sl.convert_version(model, 9, verify=False),
}
ROUNDING = ("accelerate",)

Feeds = Mapping[str, np.ndarray]
Outputs = Sequence[np.ndarray]


def faults(model: onnx.ModelProto, way: str, given: Iterable[Feeds]) -> list[str]:
    """The faults of a rewrite, on some inputs."""
    try:
        rewrite = WAYS[way](model)
    except sl.Error as error:
        return [] if way == "opset 9" else [f"refused: {error}"]
    check_model(rewrite)
    given = list(given)
    rounds, shares = way in ROUNDING, _shares_outputs(model)
    before, after = _runs(model, given), _runs(rewrite, given)
    found = []
    for number, (ours, specified, one, other) in enumerate(zip(*before, *after, strict=True)):
        departs = shares or (specified and not (ours and _is_same(ours, specified, rounds)))
        if ours and not departs and not (one and _is_same(ours, one, rounds)):
            found.append(f"onnxruntime, feed {number}: {one}, not {ours}")
        if specified and not (other and _is_same(specified, other, rounds)):
            found.append(f"reference, feed {number}: {other}, not {specified}")
    return found


def _shares_outputs(model: onnx.ModelProto) -> bool:
    """Test for a Scan that returns an argument or one value twice: onnxruntime mixes them up."""
    (node,) = (node for node in model.graph.node if node.op_type in ("Loop", "Scan"))
    body = next(a.g for a in node.attribute if a.name == "body")
    results = [value.name for value in body.output]
    repeats = len(set(results)) < len(results)
    return node.op_type == "Scan" and (repeats or any(v.name in results for v in body.input))


def _runs(model: onnx.ModelProto, given: Sequence[Feeds]) -> tuple[list[Any], list[Any]]:
    """The outputs in onnxruntime and in the reference; None where it fails."""
    names = {value.name for value in model.graph.input}
    fed = [{name: array for name, array in feed.items() if name in names} for feed in given]
    session = open_session(model, optimized=False)
    with np.errstate(all="ignore"):
        return (
            [_outputs(lambda feed: session.run(None, feed), feed) for feed in fed],
            [_outputs(lambda feed: reference.run(model, feed), feed) for feed in fed],
        )


def _outputs(run: Callable[[Any], Outputs], feed: Feeds) -> Outputs | None:
    try:
        return run(feed)
    except Exception:  # noqa: BLE001 - operands that do not fit, in any runtime
        return None


def _is_same(one: Outputs, other: Outputs, rounds: bool) -> bool:
    return all(
        a.shape == b.shape and a.dtype == b.dtype and _is_near(a, b, rounds)
        for a, b in zip(one, other, strict=True)
    )


def _is_near(one: np.ndarray, other: np.ndarray, rounds: bool) -> bool:
    """Test for equal arrays; with rounding, for small numbers that are about equal."""
    if one.dtype.kind != "f" or not rounds:
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    is_small = np.isfinite(one).all() and (np.abs(one) < LARGEST).all()
    return not is_small or np.allclose(one, other, rtol=1e-4, atol=1e-4)
