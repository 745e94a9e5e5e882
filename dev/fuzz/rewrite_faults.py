"""The faults of rewrites of a model: other outputs, an invalid model, a refuted proof.

A construct may be kept, and a conversion refused; any other exception passes through. Where
onnxruntime departs from the reference on the original, the rewrite is compared by the reference
alone.
"""

import contextlib
import functools
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
import onnx
import straightline as sl
from harness import check_model
from sessions import open_session
from straightline import reference
from straightline.facts.notions import Equality, weakest
from straightline.ir import Operator
from straightline.ops import rules_of

LARGEST = 1e6
"""A larger number is on its way to infinity, and may get there earlier if a rewrite rounds."""

Feeds = Mapping[str, np.ndarray]
Outputs = Sequence[np.ndarray]
IsSame = Callable[[np.ndarray, np.ndarray], bool]
Run = Callable[[onnx.ModelProto, Sequence[Feeds]], list["Outputs | None"]]


class Way(NamedTuple):
    """A way to rewrite a model, and the notion of equality that it claims.

    A conversion may be refused, and its longer forms of functions round in the last bits.
    """

    run: Callable[..., onnx.ModelProto]
    equality: Equality = "bits"
    converts: bool = False

    def rewrite(self, model: onnx.ModelProto, verify: bool = False) -> onnx.ModelProto:
        """Rewrite a model, with verification as by default or without any."""
        return self.run(model, **({} if verify else {"verify": False}))


def _by(passes: str | None, **options: Any) -> Callable[..., onnx.ModelProto]:
    return functools.partial(sl.rewrite, passes=passes, **options)


def _to(opset: int) -> Way:
    return Way(functools.partial(sl.convert_version, target_opset=opset), converts=True)


LOOP_WAYS = {
    "default": Way(_by(None)),
    "accelerate": Way(_by("accelerate"), "reals"),
    "selects": Way(_by("selects")),
    "simplify": Way(_by("simplify"), "values"),
    "opset 9": _to(9),
}
WAYS = LOOP_WAYS | {
    "simplify, bits": Way(_by("simplify", exactness="bits")),
    "simplify, reals": Way(_by("simplify", exactness="reals"), "reals"),
    **{f"opset {opset}": _to(opset) for opset in (8, 13, 21)},
}


def in_process(model: onnx.ModelProto, given: Sequence[Feeds]) -> list[Outputs | None]:
    """The outputs of onnxruntime for each feed; None where it fails."""
    session = open_session(model, optimized=False)
    return [_outputs(lambda feed: session.run(None, feed), feed) for feed in given]


def isolated(model: onnx.ModelProto, given: Sequence[Feeds]) -> list[Outputs | None]:
    """Run in a fork, which onnxruntime may end: it divides by sizes of zero."""
    context, found = multiprocessing.get_context("fork"), list[Outputs | None]()
    while len(found) < len(given):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_answer, args=(sender, model, given[len(found) :]))
        child.start()
        sender.close()
        with contextlib.suppress(EOFError):
            while True:
                found.append(receiver.recv())
        child.join()
        found += [None] * bool(child.exitcode)
    return found[: len(given)]


def _answer(sender: Connection, model: onnx.ModelProto, given: Sequence[Feeds]) -> None:
    """Send the outputs for each feed; None for all if onnxruntime refuses the model."""
    session = None
    with contextlib.suppress(Exception):
        session = open_session(model, optimized=False)
    for feed in given:
        sender.send(session and _outputs(lambda feed: session.run(None, feed), feed))


class Original:
    """A model with the outputs of onnxruntime and of the reference for some inputs.

    Args:
        model: the model.
        given: its inputs; other names are left out.
        run: a run of the model in onnxruntime; a rewrite runs in this process.
    """

    def __init__(
        self, model: onnx.ModelProto, given: Iterable[Feeds], run: Run = in_process
    ) -> None:
        self.model = model
        names = {value.name for value in model.graph.input}
        self.given = [{n: a for n, a in feed.items() if n in names} for feed in given]
        self.ours, self.specified = run(model, self.given), _by_reference(model, self.given)
        for number in _with_open_places(model, self.given):
            self.ours[number] = self.specified[number] = None
        if any(node.op_type == "Scan" for node in _nodes(model)):
            # onnxruntime runs none over nothing, and what is inferred decides sizes there.
            pairs = zip(self.ours, self.specified, strict=True)
            self.specified = [None if one is None else other for one, other in pairs]
        self.shares = any(map(_shares_outputs, _nodes(model)))

    def faults(self, name: str) -> list[str]:
        """The faults of a rewrite, which may be refused."""
        way = WAYS[name]
        try:
            rewrite = way.rewrite(self.model)
        except sl.Error as error:
            return [] if way.converts else [f"refused: {error}"]
        return list(self.faults_of(rewrite, way))

    def faults_of(self, rewrite: onnx.ModelProto, way: Way) -> Iterator[str]:
        """Yield the faults of a rewrite."""
        check_model(rewrite)
        expected = [None if self._departs(*pair) else pair[0] for pair in self._outputs()]
        names = {node.op_type for model in (self.model, rewrite) for node in _nodes(model)}
        equality = way.equality
        if way.converts and _is_expanded(names):
            equality = weakest((equality, "values"))
        # onnxruntime's Where loses signs of zeros, which the verdict names (`ops.departures`).
        zeros = weakest((equality, "values")) if "Where" in names else equality
        is_near = _is_equal if all(map(_has_fixed_bits, names)) else _is_near
        if _has_halves(self.given):
            # onnxruntime computes float16 as float, and rounds only what leaves a graph.
            is_near = _is_near
        is_equal = is_near if way.converts else _is_equal
        runs: list[tuple[str, Run, list[Outputs | None], IsSame, Equality]] = [
            ("onnxruntime", in_process, expected, is_near, zeros),
            ("reference", _by_reference, self.specified, is_equal, equality),
        ]
        for name, run, wanted, is_same, notion in runs:
            known = [number for number, outputs in enumerate(wanted) if outputs is not None]
            found = run(rewrite, [self.given[number] for number in known]) if known else []
            is_same = _is_rounded if notion == "reals" else is_same
            for number, outputs in zip(known, found, strict=True):
                # A running sum becomes a Scan below opset 11; onnxruntime runs none over nothing.
                if way.converts and run is in_process and outputs is None and "Scan" in names:
                    continue
                if not _agree(wanted[number], outputs, is_same, notion):
                    yield f"{name}, feed {number}: {outputs}, not {wanted[number]}"

    def _outputs(self) -> Iterator[tuple[Outputs | None, Outputs | None]]:
        """Yield the outputs of both runtimes for each feed."""
        return zip(self.ours, self.specified, strict=True)

    def _departs(self, ours: Outputs | None, specified: Outputs | None) -> bool:
        """Test for outputs of onnxruntime that are not the specified ones, but for rounding."""
        if self.shares or ours is None:
            return True
        return specified is not None and not _agree(ours, specified, _is_near, "bits")


def _with_open_places(model: onnx.ModelProto, given: Sequence[Feeds]) -> Iterator[int]:
    """Yield the inputs for which ArgMax or ArgMin reads a NaN: the specification leaves open where
    it stands, and onnxruntime's answer depends on the order."""
    read = [node.input[0] for node in model.graph.node if node.op_type in ("ArgMax", "ArgMin")]
    if not read:
        return
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(read))
    for number, outputs in enumerate(_by_reference(probe, given)):
        if any(a.dtype.kind == "f" and np.isnan(a).any() for a in outputs or ()):
            yield number


def _has_halves(given: Sequence[Feeds]) -> bool:
    """Test for an input of float16."""
    return any(a.dtype == np.float16 for feed in given for a in feed.values())


def _has_fixed_bits(op_type: str) -> bool:
    """Test for an operator with the same bits in every kernel, however many rows it computes."""
    control = ("If", "Loop", "Scan", "Constant", "F")
    return op_type in control or rules_of(Operator(op_type)).fixed_roundings() is not None


def _is_expanded(names: Iterable[str]) -> bool:
    """Test for a function whose longer form subtracts a mean, which loses the signs of zeros."""
    return any(name.endswith("Normalization") for name in names)


def _nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of all graphs and functions."""
    stack = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    while stack:
        yield (node := stack.pop())
        stack += [inner for a in node.attribute for inner in a.g.node]


def _shares_outputs(node: onnx.NodeProto) -> bool:
    """Test for a Scan that returns an argument or one value twice: onnxruntime mixes them up."""
    if node.op_type != "Scan":
        return False
    body = next(a.g for a in node.attribute if a.name == "body")
    results = [value.name for value in body.output]
    return len(set(results)) < len(results) or any(v.name in results for v in body.input)


def _by_reference(model: onnx.ModelProto, given: Sequence[Feeds]) -> list[Outputs | None]:
    with np.errstate(all="ignore"):
        return [_outputs(lambda feed: reference.run(model, feed), feed) for feed in given]


def _outputs(run: Callable[[Any], Outputs], feed: Feeds) -> Outputs | None:
    try:
        return run(feed)
    except Exception:  # noqa: BLE001 - operands that do not fit, in any runtime
        return None


def _agree(one: Outputs | None, other: Outputs | None, is_same: IsSame, equality: Equality) -> bool:
    """Test for outputs of the same types, shapes and numbers."""
    if one is None or other is None:
        return one is other
    return all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and (is_same if a.dtype.kind == "f" else np.array_equal)(a, b)
        and (a.dtype.kind != "f" or equality != "bits" or _have_equal_zeros(a, b))
        for a, b in zip(one, other, strict=True)
    )


def _is_equal(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(one, other, equal_nan=True)


def _is_near(one: np.ndarray, other: np.ndarray) -> bool:
    """Test for equal arrays, but for the last bits: rows and blocks of them round differently, and
    what nearly overflows may do so."""
    most = np.finfo(one.dtype).max / 4
    one, other = np.clip(one, -most, most), np.clip(other, -most, most)
    precision = 1e-5 if one.dtype.itemsize > 2 else 1e-2
    return np.allclose(one, other, rtol=precision, atol=precision / 10, equal_nan=True)


def _is_rounded(one: np.ndarray, other: np.ndarray) -> bool:
    """Test for small numbers that are about equal: large ones may overflow in another order."""
    is_small = np.isfinite(one).all() and (np.abs(one) < LARGEST).all()
    precision = 1e-4 if one.dtype.itemsize > 2 else 1e-2
    return not is_small or np.allclose(one, other, rtol=precision, atol=precision)


def _have_equal_zeros(one: np.ndarray, other: np.ndarray) -> bool:
    zeros = (one == 0) & (other == 0)
    return np.array_equal(np.signbit(one[zeros]), np.signbit(other[zeros]))
