"""Nodes of ONNX's operators with drawn attributes and operands, many of them senseless."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from straightline.version_converter.schemas import OLDEST, REVIEWED

OPSETS = range(OLDEST, REVIEWED + 1)
CONTROL = {"If", "Loop", "Scan", "SequenceMap"}
NUMBERS = (0, 1, 2, 3, -1, -2, 4, 5, -4, 7, -9, 100)
EXTREMES = (2**31, 2**63 - 1, -(2**63))
FLOATS = (0.0, 1.0, -1.0, 0.5, 2.0, -0.5, 1e30, float("inf"), float("nan"))
LENGTHS = (0, 1, 1, 2, 2, 3, 3, 4, 5)
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5)
WORDS: dict[str, Sequence[str]] = {
    "auto_pad": ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", "odd"),
    "mode": ("constant", "reflect", "edge", "wrap", "nearest", "linear", "cubic", "bilinear",
     "bicubic", "avg", "max", "DCR", "CRD", "none", "odd"),
    "padding_mode": ("zeros", "border", "reflection", "odd"),
    "reduction": ("none", "add", "mul", "min", "max", "mean", "sum", "odd"),
    "direction": ("forward", "reverse", "bidirectional", "LEFT", "RIGHT", "odd"),
    "coordinate_transformation_mode": ("half_pixel", "asymmetric", "align_corners",
     "tf_crop_and_resize", "pytorch_half_pixel", "half_pixel_symmetric", "tf_half_pixel_for_nn",
     "odd"),
    "nearest_mode": ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil", "odd"),
    "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller", "odd"),
    "approximate": ("none", "tanh", "odd"),
    "equation": ("ij,jk->ik", "ij->ji", "i,i->", "ij", "...i->i", "ij,ij", "ii->i", "i->zz",
     "ab->,", ""),
    "case_change_action": ("UPPER", "LOWER", "NONE", "odd"),
    "round_mode": ("up", "down", "nearest", "odd")}  # fmt: skip


@dataclass
class Drawn:
    """Nodes, and what they are fed."""

    nodes: list[onnx.NodeProto]
    inputs: list[onnx.ValueInfoProto]
    initializers: list[onnx.TensorProto]
    outputs: list[str]

    def followed_by(self, other: "Drawn", rng: random.Random) -> "Drawn":
        """These nodes, and another one that reads what they give out."""
        (node,) = other.nodes
        rename = {v.name: f"{v.name}_too" for v in (*other.inputs, *other.initializers)}
        for value in (*other.inputs, *other.initializers):
            value.name = rename[value.name]
        places = [k for k, name in enumerate(node.input) if name]
        for k in places:
            node.input[k] = rename[node.input[k]]
        if places and self.outputs:
            node.input[rng.choice(places[:2])] = self.outputs[0]
        for k, name in enumerate(node.output):
            node.output[k] = f"{name}_too" if name else ""
        outputs = [f"{name}_too" for name in other.outputs]
        return Drawn(
            [*self.nodes, node],
            [*self.inputs, *other.inputs],
            [*self.initializers, *other.initializers],
            [*(self.outputs if rng.random() < 0.3 else self.outputs[1:]), *outputs],
        )


def operators(model: onnx.ModelProto) -> Iterator[str]:
    graphs = [model.graph, *model.functions]
    while graphs:
        graph = graphs.pop()
        for node in graph.node:
            if node.domain == "" and node.op_type not in CONTROL:
                yield node.op_type
            graphs += [a.g for a in node.attribute if a.type == AttributeProto.GRAPH]


@cache
def schemas(opset: int) -> dict[str, onnx.defs.OpSchema]:
    """The operators of an opset, but for those with bodies."""
    found: dict[str, onnx.defs.OpSchema] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain or schema.since_version > opset or schema.name in CONTROL:
            continue
        known = found.get(schema.name)
        if known is None or known.since_version < schema.since_version:
            found[schema.name] = schema
    return {name: found[name] for name in sorted(found) if not found[name].deprecated}


@cache
def samples() -> dict[str, list[Path]]:
    """onnx's own tests of one node, by operator."""
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("test_*/model.onnx")):
        if path.stat().st_size < 20_000:
            op = path.parent.name.removeprefix("test_").partition("_")[0]
            found.setdefault(op, []).append(path)
    return found


def draw(rng: random.Random, opset: int) -> Drawn:
    """One node of an opset."""
    known = schemas(opset)
    name = rng.choice(list(known))
    drawn = None
    if rng.random() < 0.6:
        drawn = sampled(rng, name)
    if drawn is None:
        return fresh(rng, known[name])
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        spoil(drawn, rng, known[name])
    return drawn


# From the schema ----------------------------------------------------------------------------------


def fresh(rng: random.Random, schema: onnx.defs.OpSchema) -> Drawn:
    """A node of an operator, of whatever its schema lets pass."""
    drawn = Drawn([onnx.NodeProto(op_type=schema.name)], [], [], [])
    (node,) = drawn.nodes
    most = min(schema.max_input, schema.min_input + 3, 9)
    count = rng.randint(schema.min_input, most)
    shape, bound = sizes(rng), {}
    for k in range(count):
        formal = schema.inputs[min(k, len(schema.inputs) - 1)]
        if (
            formal.option == onnx.defs.OpSchema.FormalParameterOption.Optional
            and rng.random() < 0.3
        ):
            node.input.append("")
            continue
        if rng.random() < 0.6 and formal.type_str in bound:
            kind = bound[formal.type_str]
        else:
            kind = bound.setdefault(formal.type_str, rng.choice(sorted(formal.types)))
        own = shape if rng.random() < 0.6 else sizes(rng)
        feed(drawn, rng, f"x{k}", type_of(kind, own), 0.1 if k == 0 else 0.5)
        node.input.append(f"x{k}")
    for attribute in schema.attributes.values():
        if rng.random() < (0.97 if attribute.required else 0.5):
            put(node, rng, attribute)
    outputs = rng.randint(
        max(schema.min_output, 1), min(schema.max_output, schema.min_output + 3, 6)
    )
    drawn.outputs = [f"y{k}" for k in range(outputs)]
    node.output.extend(drawn.outputs)
    return drawn


def sizes(rng: random.Random) -> list[int]:
    return [rng.choice(SIZES) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 5)))]


def type_of(kind: str, shape: Sequence[int] | None) -> onnx.TypeProto:
    """A type by its name in schemas, such as seq(tensor(float))."""
    outer, _, inner = kind.strip().rstrip().partition("(")
    inner = inner[:-1]
    if outer == "seq":
        return helper.make_sequence_type_proto(type_of(inner, shape))
    if outer == "optional":
        return helper.make_optional_type_proto(type_of(inner, shape))
    if outer == "map":
        key, _, value = inner.partition(",")
        return helper.make_map_type_proto(
            getattr(TensorProto, key.strip().upper()),
            type_of(value.strip() if "(" in value else f"tensor({value.strip()})", shape),
        )
    numbers = {"float": 1, "bfloat16": 16, "float16": 10}
    elem = numbers.get(inner) or getattr(TensorProto, inner.upper())
    return helper.make_tensor_type_proto(elem, shape)


def feed(
    drawn: Drawn, rng: random.Random, name: str, kind: onnx.TypeProto, constant: float
) -> None:
    """An input of a type, or a constant; of some inputs nothing or not all is known."""
    tensor = kind.tensor_type
    if kind.HasField("tensor_type") and tensor.HasField("shape") and rng.random() < constant:
        dims = [d.dim_value for d in tensor.shape.dim]
        made = elements(rng, tensor.elem_type, dims)
        if made is not None:
            drawn.initializers.append(numpy_helper.from_array(made, name))
            return
    value = onnx.ValueInfoProto(name=name)
    chance = rng.random()
    if chance > 0.05:
        value.type.CopyFrom(kind)
    if chance < 0.15 and kind.HasField("tensor_type"):
        value.type.tensor_type.ClearField("shape")
    elif chance < 0.35:
        for size in value.type.tensor_type.shape.dim if kind.HasField("tensor_type") else ():
            if rng.random() < 0.5:
                size.dim_param = rng.choice("NM")
    drawn.inputs.append(value)


def elements(
    rng: random.Random, elem_type: int, dims: Sequence[int]
) -> np.ndarray[Any, Any] | None:
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    count = int(np.prod(dims))
    if dtype.kind in "iu":
        pool = NUMBERS if rng.random() < 0.9 else (*NUMBERS, *EXTREMES)
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        drawn = [min(max(rng.choice(pool), low), high) for _ in range(count)]
        return np.array(drawn, dtype).reshape(dims)
    if dtype.kind in "fb":
        return np.array([rng.choice(FLOATS) for _ in range(count)], dtype).reshape(dims)
    if dtype.kind == "O":
        return np.array([rng.choice("abc") for _ in range(count)], object).reshape(dims)
    return None


def put(node: onnx.NodeProto, rng: random.Random, schema: onnx.defs.OpSchema.Attribute) -> None:
    """Give the node an attribute; of a kind that is not drawn, nothing."""
    for place in reversed(range(len(node.attribute))):
        if node.attribute[place].name == schema.name:
            del node.attribute[place]
    kinds = onnx.defs.OpSchema.AttrType
    word = WORDS.get(schema.name, ("odd",))
    if schema.name == "to" or schema.name.endswith("dtype"):
        values: dict[Any, Any] = {
            kinds.INT: rng.choice((1, 1, 2, 6, 7, 7, 9, 10, 11, 16, 17, 22, 3, 8))
        }
    else:
        pool = NUMBERS if rng.random() < 0.95 else EXTREMES
        values = {kinds.INT: rng.choice(pool)}
    length = rng.choice(LENGTHS)
    values |= {
        kinds.INTS: [rng.choice(NUMBERS) for _ in range(length)],
        kinds.FLOAT: rng.choice(FLOATS),
        kinds.FLOATS: [rng.choice(FLOATS) for _ in range(length)],
        kinds.STRING: rng.choice(word),
        kinds.STRINGS: [rng.choice(word) for _ in range(length)],
        kinds.TENSOR: numpy_helper.from_array(
            np.array([rng.choice(NUMBERS)] * length, rng.choice((np.float32, np.int64)))
        ),
        kinds.TYPE_PROTO: helper.make_tensor_type_proto(1, [2]),
    }
    if schema.type in values:
        made = helper.make_attribute(
            schema.name, values[schema.type], attr_type=int(schema.type.value)
        )
        node.attribute.append(made)


# From a test --------------------------------------------------------------------------------------


def sampled(rng: random.Random, op_type: str) -> Drawn | None:
    """The node of one of onnx's own tests, with some of what the test feeds as constants."""
    paths = samples().get(op_type.lower())
    if not paths:
        return None
    path = rng.choice(paths)
    model = onnx.load(path)
    graph = model.graph
    if [n.op_type for n in graph.node] != [op_type]:
        return None
    drawn = Drawn(
        list(graph.node), [], list(graph.initializer), [o for o in graph.node[0].output if o]
    )
    chance = rng.choice((0.1, 0.8))
    for k, value in enumerate(graph.input):
        data = path.parent / "test_data_set_0" / f"input_{k}.pb"
        if k and value.type.HasField("tensor_type") and data.exists() and rng.random() < chance:
            tensor = TensorProto.FromString(data.read_bytes())
            tensor.name = value.name
            drawn.initializers.append(tensor)
        else:
            drawn.inputs.append(value)
    return drawn


def spoil(drawn: Drawn, rng: random.Random, schema: onnx.defs.OpSchema) -> None:
    """Change one thing of a node or of what it is fed."""
    node = drawn.nodes[0]
    attributes = list(schema.attributes.values())
    kind = rng.choice(
        (
            "attribute",
            "attribute",
            "attribute",
            "shape",
            "shape",
            "value",
            "value",
            "type",
            "absent",
            "longer",
        )
    )
    if kind == "attribute" and attributes:
        put(node, rng, rng.choice(attributes))
    elif kind == "longer" and node.attribute:
        change_length(rng.choice(node.attribute), rng)
    elif kind == "absent" and len(node.input):
        node.input[rng.randrange(len(node.input))] = ""
    elif kind == "value" and drawn.initializers:
        change_constant(drawn, rng)
    elif drawn.inputs:
        change_type(rng.choice(drawn.inputs), rng, kind, schema)


def change_length(attribute: onnx.AttributeProto, rng: random.Random) -> None:
    for values in (attribute.ints, attribute.floats):
        if values and rng.random() < 0.5:
            values.pop()
        elif values:
            values.append(values[0])
    if attribute.type == AttributeProto.INT:
        attribute.i = rng.choice(NUMBERS)


def change_constant(drawn: Drawn, rng: random.Random) -> None:
    place = rng.randrange(len(drawn.initializers))
    old = drawn.initializers[place]
    dims = list(old.dims)
    change_dims(dims, rng)
    made = elements(rng, old.data_type, dims)
    if made is not None:
        drawn.initializers[place] = numpy_helper.from_array(made, old.name)


def change_dims(dims: list[int], rng: random.Random) -> None:
    what = rng.choice(("pop", "push", "size", "same", "scalar"))
    if what == "pop" and dims:
        dims.pop(rng.randrange(len(dims)))
    elif what == "push":
        dims.insert(rng.randint(0, len(dims)), rng.choice(SIZES))
    elif what == "size" and dims:
        dims[rng.randrange(len(dims))] = rng.choice(SIZES)
    elif what == "scalar":
        dims.clear()


def change_type(
    value: onnx.ValueInfoProto, rng: random.Random, kind: str, schema: onnx.defs.OpSchema
) -> None:
    """Another rank, size or element type of an input; or a sequence, or nothing known."""
    if not value.type.HasField("tensor_type") or (kind == "type" and rng.random() < 0.3):
        outer = rng.choice(("seq(tensor(float))", "optional(tensor(float))", "tensor(string)"))
        value.type.CopyFrom(type_of(outer, [2]))
        return
    tensor = value.type.tensor_type
    if kind == "type":
        tensor.elem_type = rng.choice((1, 2, 3, 6, 7, 8, 9, 10, 11, 13, 16, 17))
        return
    dims = [d.dim_value for d in tensor.shape.dim]
    change_dims(dims, rng)
    value.type.CopyFrom(helper.make_tensor_type_proto(tensor.elem_type, dims))
    if rng.random() < 0.2:
        for size in value.type.tensor_type.shape.dim:
            size.dim_param = "N"
    elif rng.random() < 0.1:
        value.type.tensor_type.ClearField("shape")
