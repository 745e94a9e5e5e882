"""Models of one node, from onnx's own tests: each operator in several opsets, types and forms."""

import dataclasses
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import straightline as sl
from onnx import numpy_helper
from straightline.ops.schema_queries import tensor_text, type_fault
from straightline.targets import Target
from straightline.targets.legality import Legality

OPSETS = (11, 13, 17, 21)
"""Opsets besides that of the test."""
_TYPES = (np.float64, np.float16, np.int64, np.int32, np.uint8, np.bool_)
"""Types in the place of float in the first test of each operator."""
_RANDOM = ("Random", "Bernoulli", "Multinomial", "Dropout")


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """A model of one node with inputs and outputs.

    Attributes:
        name: the test that it is from.
        op_type: its operator.
        form: the variant: its type, or the inputs that are constants.
        model: the model.
        feeds: its inputs.
        expected: its outputs.
    """

    name: str
    op_type: str
    form: str
    model: onnx.ModelProto
    feeds: Mapping[str, Any]
    expected: Sequence[Any]

    @property
    def opset(self) -> int:
        """The opset of the model."""
        return max(each.version for each in self.model.opset_import if not each.domain)


def cases(target: Target, only: str = "", opsets: Sequence[int] = OPSETS) -> Iterator[Case]:
    """Yield every case that a target supports by its list.

    Args:
        target: the target.
        only: a text that the names of the operators hold.
        opsets: the opsets besides those of the tests.
    """
    seen: set[bytes] = set()
    for case in _variants(only):
        for model in _in_opsets(case.model, target, opsets):
            key = model.SerializeToString(deterministic=True)
            if key not in seen and _is_supported(model, target):
                seen.add(key)
                yield dataclasses.replace(case, model=model)


def recorded(folder: Path, target: Target, only: str = "") -> Iterator[Case]:
    """Yield the models that tests of definitions kept, as far as a target supports them.

    Args:
        folder: NAME.onnx with inputs and outputs in NAME.npz, as `tests/support/kernels.py` has it.
        target: the target.
        only: a text that the names of the operators hold.
    """
    for file in sorted(folder.glob("*.onnx")):
        model = onnx.load(file)
        with np.load(file.with_suffix(".npz")) as arrays:
            feeds = {name: arrays[name] for name in arrays.files if not name.startswith("result ")}
            results = [arrays[name] for name in arrays.files if name.startswith("result ")]
        (node, *others) = model.graph.node
        if not others and only in node.op_type and _is_supported(model, target):
            op_type = f"{node.domain}.{node.op_type}".removeprefix(".")
            form = ", ".join(
                [f"{a.name}={onnx.helper.get_attribute_value(a)}" for a in node.attribute]
            )
            types = " ".join(str(array.dtype) + str(list(array.shape)) for array in feeds.values())
            yield Case(types, op_type, form, model, feeds, results)


def _variants(only: str) -> Iterator[Case]:
    typed: set[str] = set()
    for case in _tests():
        if only not in case.op_type:
            continue
        yield case
        if len(case.feeds) > 1:
            yield _with_constants(case)
        if case.op_type not in typed:
            typed.add(case.op_type)
            yield from _of_other_types(case)


def _tests() -> Iterator[Case]:
    """The tests of onnx with one node and tensors of numpy's own types."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        cases = collect_testcases(None)
    for case in cases:
        nodes = case.model.graph.node
        if len(nodes) != 1 or nodes[0].domain or not case.data_sets:
            continue
        op_type = nodes[0].op_type
        if op_type.startswith(_RANDOM) or any(a.HasField("g") for a in nodes[0].attribute):
            continue
        names = [value.name for value in case.model.graph.input]
        inputs, outputs = (list(map(_array, row)) for row in case.data_sets[0])
        plain = all(isinstance(v, np.ndarray) and v.dtype.isbuiltin == 1 for v in inputs + outputs)
        if plain and len(inputs) == len(names):
            feeds = dict(zip(names, inputs, strict=True))
            yield Case(case.name, op_type, "", case.model, feeds, outputs)


def _array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def _with_constants(case: Case) -> Case:
    """The case with all inputs but the first as constants."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    first, *others = list(model.graph.input)
    del model.graph.input[1:]
    tensors = [numpy_helper.from_array(case.feeds[v.name], v.name) for v in others]
    model.graph.initializer.extend(tensors)
    feeds = {first.name: case.feeds[first.name]}
    return dataclasses.replace(case, model=model, feeds=feeds, form="constants")


def _of_other_types(case: Case) -> Iterator[Case]:
    """The case with other types in the place of float, where ONNX has it."""
    for dtype in _TYPES:
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        feeds = dict(case.feeds)
        for value in model.graph.input:
            if feeds[value.name].dtype == np.float32:
                feeds[value.name] = feeds[value.name].astype(dtype)
                elem_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
                value.type.tensor_type.elem_type = elem_type
        if feeds.keys() and all(f is case.feeds[name] for name, f in feeds.items()):
            return
        for value in model.graph.output:
            value.type.tensor_type.ClearField("elem_type")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
                onnx.checker.check_model(inferred)
                expected = sl.reference.run(inferred, feeds)
        except Exception:  # noqa: BLE001 - the operator or the reference has no such type
            continue
        yield dataclasses.replace(
            case, model=inferred, feeds=feeds, expected=expected, form=np.dtype(dtype).name
        )


def _in_opsets(
    model: onnx.ModelProto, target: Target, opsets: Sequence[int]
) -> Iterator[onnx.ModelProto]:
    """The model in its own opset and in others that the target reads, while it has one node."""
    own = max(each.version for each in model.opset_import if not each.domain)
    for opset in dict.fromkeys((own, *opsets)):
        if opset not in target.opsets:
            continue
        if opset == own:
            yield model
            continue
        try:
            converted = sl.convert_version(model, opset, rewrite=False, verify=False)
        except sl.Error:
            continue
        if [node.op_type for node in converted.graph.node] == [model.graph.node[0].op_type]:
            yield converted


def _is_supported(model: onnx.ModelProto, target: Target) -> bool:
    try:
        return _fits_schema(model) and not Legality(target, sl.ir.load(model)).unsupported()
    except sl.Error:
        return False


def _fits_schema(model: onnx.ModelProto) -> bool:
    """Test whether the types of inputs are among those of the operator."""
    (node,) = model.graph.node
    if node.domain:
        return True  # onnx has no schema of it
    opset = max(each.version for each in model.opset_import if not each.domain)
    types = {v.name: v.type.tensor_type.elem_type for v in model.graph.input}
    types |= {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    inputs = [(name, [tensor_text(types[name])]) if name else None for name in node.input]
    return type_fault(node.op_type, opset, inputs, []) is None
