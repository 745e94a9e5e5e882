"""Models of the cases that a rule claims."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.shape_inference
from onnx import helper

from ....definitions.pattern import (
    Operand,
    Parameter,
    Pattern,
    PatternNode,
    RuleError,
    ShapePattern,
    Variable,
    parse_pattern,
)
from ....ir.operator import attribute_message
from ....ops.schema_queries import NEGATIVE_AXES
from .normal_form import insert_lists
from .replacement import resolved
from .rule import Rule
from .rule_cases import SIZES, Setting, star_of
from .types import TypeClasses
from .uniform_constants import as_element


class CaseModel:
    """The graph before of one case, as messages.

    Args:
        pattern: the pattern before.

    Attributes:
        assumed: the names of inputs that stand for constants.
    """

    def __init__(self, rule: Rule, pattern: Pattern, setting: Setting, prefix: str) -> None:
        self.pattern = pattern
        self.setting = setting
        self.prefix = prefix
        self.classes = TypeClasses(pattern, rule.result, setting.opset)
        self.inputs: list[onnx.ValueInfoProto] = []
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.assumed: list[str] = []
        lacking = _variables(pattern) - setting.attributes.keys()
        if lacking:
            raise RuleError(f"{rule}: its method 'cases' has no value of '@{min(lacking)}'")
        for parameter in pattern.parameters.values():
            self._add_parameter(parameter)
        for number, node in enumerate(pattern.nodes):
            self._add_node(node, number)
        # An output of the graph could not be one of its inputs instead.
        names = [(prefix + name, f"{prefix}{name}_out") for name in pattern.outputs]
        self.nodes += [helper.make_node("Identity", [name], [copy]) for name, copy in names]
        self.outputs = [helper.make_empty_tensor_value_info(copy) for _, copy in names]

    def is_valid(self) -> bool:
        """Infer the types of the outputs; false for a graph that ONNX does not allow."""
        model = model_of([self], self.setting.opset)
        if self.setting.opset < NEGATIVE_AXES and any(map(_counts_from_end, model.graph.node)):
            return False
        try:
            inferred = onnx.shape_inference.infer_shapes(model, True, True, True)
        except onnx.shape_inference.InferenceError:
            return False
        self.outputs = list(inferred.graph.output)
        return all(output.type.HasField("tensor_type") for output in self.outputs)

    def _add_parameter(self, parameter: Parameter) -> None:
        name = self.prefix + parameter.name
        value = self.setting.attributes.get(parameter.name)
        elem_type = self.setting.types.get(self.classes.of(parameter.name))
        if isinstance(value, str):
            values = ", ".join(self.pattern.parameters)
            self._add_node(parse_pattern(f"({values}) => (v) {{ v = {value} }}").nodes[0], 0, name)
        elif value is not None:
            dtype = helper.tensor_dtype_to_np_dtype(elem_type or onnx.TensorProto.INT64)
            self._constant(name, np.asarray(value).astype(dtype))
        else:
            assert elem_type is not None
            shape = self._shape(parameter)
            self.inputs.append(helper.make_tensor_value_info(name, elem_type, shape))
            if parameter.is_constant:
                self.assumed.append(name)

    def _shape(self, parameter: Parameter) -> list[int | str]:
        pattern = parameter.shape or ShapePattern(star_of(parameter), ())
        rank = self.setting.ranks.get(pattern.star or "", 0)
        names: list[int | str] = [f"{pattern.star}{axis}" for axis in range(rank)]
        names += pattern.dims
        sizes: list[int | str] = []
        for axis, name in enumerate(names):
            name = self.setting.attributes.get(str(name), name)  # a case may name a size
            if isinstance(name, int) or self.setting.sizes == "symbols":
                sizes.append(name if isinstance(name, int) else self.prefix + name)
            else:
                ones = self.setting.sizes == "ones"
                sizes.append(1 if ones else SIZES[axis - len(names) + len(SIZES)])
        mask = self.setting.shapes.get(parameter.name)
        if mask is None:
            return sizes
        own = sizes[len(sizes) - len(mask) :]
        return [size if open_ == 0 else 1 for size, open_ in zip(own, mask, strict=True)]

    def _constant(self, name: str, array: Any) -> str:
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def _add_node(self, node: PatternNode, number: int, output: str = "") -> None:
        own = output or f"{self.prefix}{node.outputs[0]}"
        inputs = [self._operand(o, number, i, f"{own}_{i}") for i, o in enumerate(node.inputs)]
        attributes = resolved(node, self.setting.attributes)

        def listed(name: str, value: Any) -> str:
            return self._constant(f"{own}_{name}", np.array(value, np.int64))

        insert_lists(node.op_type, self.setting.opset, attributes, inputs, listed)
        outputs = [output] if output else [self.prefix + name for name in node.outputs]
        message = helper.make_node(node.op_type, [i or "" for i in inputs], outputs, name=own)
        for name, value in attributes.items():
            message.attribute.append(attribute_message(name, value))
        self.nodes.append(message)

    def _operand(self, operand: Operand, number: int, place: int, label: str) -> str | None:
        if operand.kind == "absent":
            return None
        if operand.kind == "number":
            return self._number(label, number, place, operand.value)
        if operand.kind == "integers":
            return self._constant(label, np.array(operand.value, np.int64))
        if operand.kind == "attribute":
            return self._constant(label, np.array(self.setting.attributes[operand.name], np.int64))
        return self.prefix + operand.name

    def _number(self, label: str, number: int, place: int, value: Any) -> str:
        name, types = self.classes.of_operand(0, number, place)
        elem_type = self.setting.types.get(name or "", min(types))
        element = as_element(value, elem_type)
        if element is None:  # the type lacks the number, so the rule will not apply
            element = np.zeros((), helper.tensor_dtype_to_np_dtype(elem_type))
        shape = self.setting.shapes.get((number, place), ())
        return self._constant(label, np.broadcast_to(element, shape))


def _variables(pattern: Pattern) -> set[str]:
    """Names of the variables that stand for attributes of nodes."""
    names = {
        operand.name for n in pattern.nodes for operand in n.inputs if operand.kind == "attribute"
    }
    values = [value for node in pattern.nodes for value in node.attributes.values()]
    return names | {value.name for value in values if isinstance(value, Variable)}


def model_of(cases: Sequence[CaseModel], opset: int) -> onnx.ModelProto:
    """The model of some cases of one opset, side by side."""
    graph = helper.make_graph(
        [node for case in cases for node in case.nodes],
        "cases",
        [value for case in cases for value in case.inputs],
        [value for case in cases for value in case.outputs],
        [tensor for case in cases for tensor in case.constants],
    )
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def _counts_from_end(node: onnx.NodeProto) -> bool:
    """Test for axes of new or removed dimensions that are negative, which old opsets lack."""
    axes = [axis for each in node.attribute if each.name == "axes" for axis in each.ints]
    return node.op_type in ("Squeeze", "Unsqueeze") and min(axes, default=0) < 0
