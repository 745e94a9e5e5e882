"""Perturbation of a model: each float result moves by one unit in the last place.

Kernels differ in their rounding, and so do a model and its rewrite. What a model does not compute
but compares or moves stays, and so does a sum, product or quotient that needs no rounding.
Operators that may add up in any order get moved operands, too: `1e20 + 1 - 1e20` is 0 or 1. Where
the magnitudes of their terms overflow together, the result becomes a NaN or an infinity, by the
seed: `3e38 + 3e38 - inf` is -inf in one order and NaN in the other.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from onnx import TensorProto, helper, numpy_helper

from ...ir import Operator
from ...ir.errors import reason
from ...ir.places import normal_domain
from ...ops import rules_of
from ...ops.agreement import SUMS
from ...reference.bodies import subgraphs

_LARGEST = 1 << 26
"""Limit in bytes of a copied model."""
_BROADCASTING = 7
"""Opset from which scalars broadcast."""
_EQUAL_FLOATS = 11
"""Opset from which Equal compares floats."""
_RANGES = {2: (0.75, 1.0), 3: (-1.0, -0.75)}
"""Ranges of the factors of seeds that move all results in one direction."""
_EXACT_IN_DOUBLE = {"Add", "Sub", "Mul", "Div"}
_THRESHOLDS = {"ThresholdedRelu", "Shrink", "QuantizeLinear", "NonMaxSuppression"}
_EPSILONS: dict[int, float] = {
    TensorProto.BFLOAT16: 2.0**-8,
    TensorProto.FLOAT16: 2.0**-11,
    TensorProto.FLOAT: 2.0**-23,
    TensorProto.DOUBLE: 2.0**-52,
}


_STASHING = {"GroupNormalization": 21, "LayerNormalization": 17, "RMSNormalization": 23}
"""Operators that may compute in the type `stash_type`, by default float, and the opset from which
they do."""


_CHOOSING = 9
"""Opset that has Where."""
_SCALING = {"Resize", "Upsample"}
"""Operators whose scales are floats, whatever the data."""


def nudge(model: onnx.ModelProto, seed: int) -> onnx.ModelProto | None:
    """Multiply the results of float operators by random factors next to 1.

    Operators that add up get other terms, too. Each run has new factors. Returns None for a model
    that is too large, too old, or of which the element types cannot be inferred.

    Args:
        model: the model, which stays as it is.
        seed: of the random factors. With 2 all results move away from zero, with 3 toward it.
    """
    opset = next((o.version for o in model.opset_import if not normal_domain(o.domain)), 0)
    if opset < _BROADCASTING or model.ByteSize() > _LARGEST:
        return None
    try:
        # Functions have no types.
        flat = onnx.inliner.inline_local_functions(model) if model.functions else model
        copy = onnx.shape_inference.infer_shapes(flat)
    except Exception as error:  # noqa: BLE001 - C++ lets out anything
        _ = reason(error)
        return None
    _Nudging(seed, opset).nudge(copy.graph)
    return copy


class _Nudging:
    """Perturbation of the graphs of a model.

    Args:
        seed: of the random factors.
        opset: the version of the model, from which on Equal can tell exact results.
    """

    def __init__(self, seed: int, opset: int) -> None:
        self._seed = seed
        self._opset = opset
        self._keeps_exact = opset >= _EQUAL_FLOATS
        self._low, self._high = _RANGES.get(seed, (-1.0, 1.0))
        self._numbers = itertools.count(1)

    def nudge(self, graph: onnx.GraphProto, outer: Mapping[str, int] | None = None) -> None:
        """Perturb a graph and the bodies of its nodes; `outer` holds types of captured values."""
        infos = (*graph.value_info, *graph.output, *graph.input)
        own = {info.name: info.type.tensor_type.elem_type for info in infos}
        constants = {tensor.name for tensor in graph.initializer}
        types = {**(outer or {}), **dict.fromkeys(constants, TensorProto.UNDEFINED), **own}
        nodes: list[onnx.NodeProto] = []
        for node in graph.node:
            bodies = subgraphs(node)
            for body in bodies:
                self.nudge(body, types)
            roundings = rules_of(Operator(node.op_type, domain=node.domain)).fixed_roundings()
            if bodies or roundings == 0:
                nodes.append(node)
                continue
            coarse, sums = self._stash_epsilon(node), self._overflow(node, types)
            if roundings is None and not _compares(node):
                for place, name in enumerate(node.input):
                    if name not in constants and types.get(name) in _EPSILONS:
                        node.input[place] = label = f"straightline_moved_{next(self._numbers)}"
                        nodes.extend(self._moved(name, label, types[name], coarse))
            nodes.append(node)
            for place, name in enumerate(node.output):
                if types.get(name) in _EPSILONS:
                    node.output[place] = label = f"straightline_nudged_{next(self._numbers)}"
                    exactness = _exactness(node, types[name]) if self._keeps_exact else ()
                    result = sums[-1].input[2] if sums else name
                    nodes.extend(self._moved(label, result, types[name], coarse, exactness))
            nodes.extend(sums)
        # The present nodes belong to the list that is emptied.
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        del graph.node[:]
        graph.node.extend(copies)

    def _stash_epsilon(self, node: onnx.NodeProto) -> float:
        """The unit in which an operator rounds inner results, if another type holds them."""
        if node.op_type in _SCALING:
            return _EPSILONS[TensorProto.FLOAT]
        if self._opset < _STASHING.get(node.op_type, self._opset + 1):
            return 0.0
        types = [field.i for field in node.attribute if field.name == "stash_type"]
        return _EPSILONS.get((types or [TensorProto.FLOAT])[0], 0.0)

    def _overflow(self, node: onnx.NodeProto, types: Mapping[str, int]) -> list[onnx.NodeProto]:
        """Nodes that replace elements of a sum whose finite terms may overflow, by a Where.

        The last one chooses between a NaN or an infinity and the moved result, its third operand.
        """
        elem_type = types.get(node.output[0])
        if node.op_type not in SUMS or self._opset < _CHOOSING or elem_type not in _EPSILONS:
            return []
        label = f"straightline_sum_{node.output[0]}"
        dtype = helper.tensor_dtype_to_np_dtype(elem_type)
        # The order of such a sum decides which of both it gives, so seeds take turns.
        special = np.inf if self._seed % 2 else np.nan
        numbers = {"none": 0.0, "inf": np.inf, "special": special}
        nodes = [
            helper.make_node(
                "Constant",
                [],
                [f"{label}_{key}"],
                value=numpy_helper.from_array(np.array(n, dtype)),
            )
            for key, n in numbers.items()
        ]
        absolute = onnx.NodeProto.FromString(node.SerializeToString())
        absolute.output[0] = f"{label}_of_magnitudes"
        for field in absolute.attribute:
            # A negative factor of a Gemm must not lower the bound.
            if field.name in ("alpha", "beta"):
                field.f = abs(field.f)
        for place, name in enumerate(
            # Further inputs of a reduction are axes, no terms.
            node.input[: 1 if node.op_type.startswith("Reduce") else None]
        ):
            if name:
                absolute.input[place] = f"{label}_finite_{place}"
                nodes += _finite_magnitude(name, absolute.input[place], label)
        return [
            *nodes,
            absolute,
            helper.make_node("Less", [absolute.output[0], f"{label}_inf"], [f"{label}_fits"]),
            helper.make_node("Not", [f"{label}_fits"], [f"{label}_overflows"]),
            helper.make_node(
                "Where",
                [f"{label}_overflows", f"{label}_special", f"{label}_moved"],
                [node.output[0]],
            ),
        ]

    def _moved(
        self,
        name: str,
        result: str,
        elem_type: int,
        coarse: float,
        exactness: Sequence[onnx.NodeProto] = (),
    ) -> Iterator[onnx.NodeProto]:
        """Yield nodes that multiply a value by a random factor next to 1.

        Args:
            name: the value.
            result: the name of the product.
            coarse: the least unit of the factor.
            exactness: nodes that compute where the value is exact, of which the last one yields a
                mask. There the factor is 1.
        """
        number = next(self._numbers)
        label = f"straightline_factor_{number}"
        dtype = helper.tensor_dtype_to_np_dtype(elem_type)
        for part, factor in (("epsilon", max(_EPSILONS[elem_type], coarse)), ("one", 1.0)):
            value = numpy_helper.from_array(np.array(factor, dtype))
            yield helper.make_node("Constant", [], [f"{label}_{part}"], value=value)
        fields: dict[str, Any] = {
            "low": self._low,
            "high": self._high,
            "seed": float(self._seed * 1000 + number),
        }
        yield helper.make_node("RandomUniformLike", [name], [f"{label}_drawn"], **fields)
        yield helper.make_node("Mul", [f"{label}_drawn", f"{label}_epsilon"], [f"{label}_by"])
        yield helper.make_node("Add", [f"{label}_by", f"{label}_one"], [f"{label}_drawn_1"])
        factor_name = f"{label}_drawn_1"
        if exactness:
            yield from exactness
            inputs = [exactness[-1].output[0], f"{label}_one", factor_name]
            factor_name = f"{label}_where"
            yield helper.make_node("Where", inputs, [factor_name])
        yield helper.make_node("Mul", [name, factor_name], [result])


def _finite_magnitude(name: str, result: str, label: str) -> list[onnx.NodeProto]:
    """Nodes that compute the absolute value of what is finite, and 0 elsewhere."""
    size, fits = f"{result}_size", f"{result}_fits"
    return [
        helper.make_node("Abs", [name], [size]),
        helper.make_node("Less", [size, f"{label}_inf"], [fits]),
        helper.make_node("Where", [fits, size, f"{label}_none"], [result]),
    ]


def _compares(node: onnx.NodeProto) -> bool:
    """Test whether an operator compares its operands with thresholds, which they must not cross."""
    return node.op_type in _THRESHOLDS or normal_domain(node.domain) == "ai.onnx.ml"


def _exactness(node: onnx.NodeProto, elem_type: int) -> list[onnx.NodeProto]:
    """Nodes that compute where a result is no rounded one; none where that is not known.

    float64 holds each product of two float32, and a sum that it rounds is no float32.
    """
    is_narrow = elem_type in (TensorProto.FLOAT, TensorProto.FLOAT16)
    if node.op_type not in _EXACT_IN_DOUBLE or not is_narrow:
        return []
    result = node.output[0]
    wide = [f"{result}_{place}" for place in range(len(node.input) + 1)]
    nodes = [
        helper.make_node("Cast", [source], [cast], to=TensorProto.DOUBLE)
        for source, cast in zip((*node.input, result), wide, strict=True)
    ]
    nodes.append(helper.make_node(node.op_type, wide[:-1], [f"{result}_wide"]))
    nodes.append(helper.make_node("Equal", [f"{result}_wide", wide[-1]], [f"{result}_exact"]))
    return nodes
