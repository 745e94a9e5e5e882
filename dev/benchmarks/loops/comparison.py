"""A case measured: as it came, in the best form by hand, and as pipelines rewrite it."""

import dataclasses
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
from straightline.passes import Pipeline

from .case import Case
from .measuring import Times, count_nodes, load_times, loops_left, ratio, run_times
from .runtimes import RUNTIMES, OpenSession

SLOWER = 0.97
"""What is below this ratio is slower, and is measured again to be sure."""


@dataclasses.dataclass(frozen=True)
class LoopForm:
    """One form of a model.

    Attributes:
        run: how many times faster than the original it runs.
        load: how many times faster than the original it loads.
        nodes: how many times fewer nodes it has.
        loops: the loops that it has.
        of_best: how many times faster than the best form by hand it runs.
        agrees: whether its outputs are those of the original.
        seconds: how long it took to make it; 0 by hand.
        us_a_node: the same in microseconds for each node read or made.
    """

    run: float
    load: float
    nodes: float
    loops: int
    of_best: float
    agrees: bool
    seconds: float
    us_a_node: float


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What was measured on a case: times of the original in milliseconds, and its other forms."""

    case: str
    family: str
    true_recurrence: bool
    must_stay: bool
    run_ms: float
    load_ms: float
    nodes: int
    forms: Mapping[str, LoopForm]


class RefusedError(Exception):
    """A runtime refuses the original, or a form of it.

    Attributes:
        taken: the forms that it takes, and those that it refuses, the original first.
    """

    def __init__(self, case: Case, taken: Mapping[str, bool]) -> None:
        refused = [name for name, is_taken in taken.items() if not is_taken]
        super().__init__(f"{case.name:41} refused: {', '.join(refused)}")
        self.taken = taken


def compare(
    case: Case, pipelines: Mapping[str, Pipeline], seconds: float, runtime: str = "onnxruntime"
) -> Comparison:
    """Measure a case.

    Args:
        case: the models.
        pipelines: what rewrites it, by name.
        seconds: how long running is measured for each form, and loading.
        runtime: one of `RUNTIMES`.

    Raises:
        RefusedError: the runtime refuses a form.
    """
    original = case.original(case.sizes)
    models, spent = {"by hand": case.by_hand(case.sizes)}, {"by hand": 0.0}
    for name, pipeline in pipelines.items():
        started = time.perf_counter()
        models[name] = pipeline.run(original).model
        spent[name] = time.perf_counter() - started
    if runtime != "onnxruntime":  # which takes all of them, or else a test fails
        _require_taken(case, {"original": original, **models}, RUNTIMES[runtime])
    clock = _Clock(original, case, seconds, RUNTIMES[runtime])
    nodes = count_nodes(original)
    forms: dict[str, LoopForm] = {}
    for name, model in models.items():
        run, load, agrees = clock.measure(model)
        forms[name] = LoopForm(
            run=run,
            load=load,
            nodes=nodes / count_nodes(model),
            loops=loops_left(model),
            of_best=run / forms["by hand"].run if forms else 1.0,
            agrees=agrees,
            seconds=spent[name],
            us_a_node=1e6 * spent[name] / (nodes + count_nodes(model)),
        )
    return Comparison(
        case=case.name,
        family=case.family,
        true_recurrence=case.true_recurrence,
        must_stay=case.best is None,
        run_ms=1e3 * clock.run_seconds,
        load_ms=1e3 * clock.load_seconds,
        nodes=nodes,
        forms=forms,
    )


def _require_taken(case: Case, models: Mapping[str, onnx.ModelProto], session: OpenSession) -> None:
    taken = {name: _takes(session, model, case) for name, model in models.items()}
    if not all(taken.values()):
        raise RefusedError(case, taken)


def _takes(session: OpenSession, model: onnx.ModelProto, case: Case) -> bool:
    try:
        session(_message(model)).run(None, case.inputs(case.sizes))
    except Exception:  # noqa: BLE001 - whatever a runtime raises, it refuses the model
        return False
    return True


class _Clock:
    """Measures other forms of a model against it."""

    def __init__(
        self, original: onnx.ModelProto, case: Case, seconds: float, session: OpenSession
    ) -> None:
        self._open = session
        self._seconds = seconds
        self._case = case
        self._feeds = case.inputs(case.sizes)
        self._message = _message(original)
        self._session = session(self._message)
        self._wanted = self._session.run(None, self._feeds)
        self._known: dict[bytes, tuple[float, float, bool]] = {}
        alike = (self._session, self._session, self._feeds)
        self.run_seconds = statistics.median(min(times) for times in run_times(*alike, seconds / 4))
        loads = load_times(session, self._message, self._message, seconds / 4)
        self.load_seconds = statistics.median(min(times) for times in loads)
        self._known[self._message] = (1.0, 1.0, True)

    def measure(self, model: onnx.ModelProto) -> tuple[float, float, bool]:
        """How many times faster a form runs and loads, and whether it gives the same.

        A form that is like an earlier one, byte for byte, is not measured again.
        """
        message = _message(model)
        if message not in self._known:
            self._known[message] = self._measure(message)
        return self._known[message]

    def _measure(self, message: bytes) -> tuple[float, float, bool]:
        other = self._open(message)
        outputs = other.run(None, self._feeds)
        agrees = self._case.random or _agree(outputs, self._wanted, self._case.tolerance)
        run = self._ratio(lambda s: run_times(self._session, other, self._feeds, s))
        load = self._ratio(lambda s: load_times(self._open, self._message, message, s))
        return run, load, agrees

    def _ratio(self, measure: Callable[[float], Times]) -> float:
        """A ratio; one that is a little slower is measured for longer, to be sure."""
        times = measure(self._seconds)
        if SLOWER / 2 < ratio(times) < SLOWER:
            times += measure(3 * self._seconds)
        return ratio(times)


def _message(model: onnx.ModelProto) -> bytes:
    return model.SerializeToString(deterministic=True)


def _agree(got: Sequence[np.ndarray], wanted: Sequence[np.ndarray], tolerance: float) -> bool:
    """Whether outputs are equal, numbers with a fraction but for rounding."""
    return all(
        one.dtype == other.dtype
        and one.shape == other.shape
        and (_close(one, other, tolerance) if other.dtype.kind == "f" else (one == other).all())
        for one, other in zip(got, wanted, strict=True)
    )


def _close(one: np.ndarray, other: np.ndarray, tolerance: float) -> bool:
    largest = float(np.max(np.abs(other), initial=0.0))
    return np.allclose(one, other, rtol=tolerance, atol=tolerance * min(largest, 1.0))
