"""Mutants of rewritten models: what a run tells apart is never proved to be equal.

    python tests/support/proof_mutants.py --models 500 --seed 0

Each model is rewritten, and the rewritten model changed in one place or two. The reference runs the
original and the mutant; where they differ in a type, a shape or a bit, `prove` must not say that
they are equal. Model N of a seed always gives the same mutants.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import queue
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
import random_loops
from backend import CASES, array
from dice import Dice
from fuzz import DRAWS
from onnx import numpy_helper
from straightline import Error, convert_version, reference
from straightline.analysis.constants.evaluation import _bounded_loop, _TripsLeft
from straightline.passes import straighten
from straightline.proof import prove

Feeds = dict[str, Any]
MUTANTS = 24
"""Of each model."""

SECONDS = 60
"""The mutants of one number take less."""

TRIPS = 300
"""A loop that a mutation made longer than that fails."""


@dataclasses.dataclass
class Origin:
    """A model, what it is rewritten to, and inputs."""

    name: str
    model: onnx.ModelProto
    rewritten: onnx.ModelProto
    feeds: list[Feeds]


def origins(seed: int, models: int) -> Iterator[Origin]:
    """Models in turn from all sources."""
    backend = [case for case in CASES if case.data_sets and case.model is not None]
    for number in range(seed, seed + models):
        for draws, strategy in DRAWS.items():
            model, feeds = Dice(number)(strategy)
            yield _origin(f"{draws}-{number}", model, [feeds])
            if draws == "scan-8":
                yield from _converted(f"{draws}-{number}-converted", model, [feeds])
        model = random_loops.random_loop(random.Random(number))
        feeds_of_loop = [random_loops.feeds(length, length != 2) for length in (0, 1, 2, 4)]
        yield _origin(f"loop-{number}", model, feeds_of_loop)
        if number < len(backend):
            case = backend[number]
            names = [info.name for info in case.model.graph.input]
            given = [dict(zip(names, map(array, ins), strict=False)) for ins, _ in case.data_sets]
            yield _origin(case.name, case.model, given)


def _origin(name: str, model: onnx.ModelProto, feeds: list[Feeds]) -> Origin:
    return Origin(name, model, straighten(max_nodes=20_000).run(model).model, feeds)


def _converted(name: str, model: onnx.ModelProto, feeds: list[Feeds]) -> Iterator[Origin]:
    """A Scan 8 in the form of opset 9, where that can be had."""
    try:
        yield Origin(name, model, convert_version(model, 9), feeds)
    except Error:
        return


# What is changed ----------------------------------------------------------------------------------


class Place:
    """The graphs of a model, with what can be read in each."""

    def __init__(self, model: onnx.ModelProto, dice: random.Random) -> None:
        self.model = model
        self.dice = dice
        self.graphs: list[tuple[Any, list[str]]] = []
        self._walk(model.graph, [])
        for function in model.functions:
            self._walk(function, [])

    def _walk(self, graph: Any, outer: list[str]) -> None:
        names = list(outer)
        if isinstance(graph, onnx.GraphProto):
            names += [info.name for info in graph.input] + [t.name for t in graph.initializer]
        else:
            names += list(graph.input)
        self.graphs.append((graph, outer))
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    self._walk(attribute.g, names)
            names = names + [name for name in node.output if name]

    def graph(self) -> tuple[Any, list[str]]:
        """A graph with nodes, larger ones more often, and what is known outside of it."""
        full = [entry for entry in self.graphs if entry[0].node]
        return self.dice.choices(full, [len(graph.node) for graph, _ in full])[0]

    def node(self) -> tuple[onnx.NodeProto, list[str]]:
        """A node, and what it may read."""
        graph, names = self.graph()
        at = self.dice.randrange(len(graph.node))
        names = list(names)
        if isinstance(graph, onnx.GraphProto):
            names += [info.name for info in graph.input] + [t.name for t in graph.initializer]
        else:
            names += list(graph.input)
        names += [name for node in graph.node[:at] for name in node.output if name]
        return graph.node[at], names


Mutation = Callable[[Place], "bool | None"]


def swap_inputs(place: Place) -> bool | None:
    node, _ = place.node()
    if len(node.input) < 2:
        return False
    a, b = place.dice.sample(range(len(node.input)), 2)
    node.input[a], node.input[b] = node.input[b], node.input[a]


def read_another(place: Place) -> bool | None:
    node, names = place.node()
    if not node.input or not names:
        return False
    node.input[place.dice.randrange(len(node.input))] = place.dice.choice(names[-12:])


def drop_input(place: Place) -> bool | None:
    node, _ = place.node()
    if not node.input:
        return False
    node.input[place.dice.randrange(len(node.input))] = ""


def swap_outputs(place: Place) -> bool | None:
    node, _ = place.node()
    if len(node.output) < 2:
        return False
    a, b = place.dice.sample(range(len(node.output)), 2)
    node.output[a], node.output[b] = node.output[b], node.output[a]


def swap_results(place: Place) -> bool | None:
    """Two nodes give what the other one gave."""
    graph, _ = place.graph()
    if len(graph.node) < 2:
        return False
    one, other = place.dice.sample(list(graph.node), 2)
    one.output[0], other.output[0] = other.output[0], one.output[0]


def rename_output(place: Place) -> bool | None:
    """A name outside is hidden by one inside, or another value is given out."""
    node, names = place.node()
    if not names or not node.output:
        return False
    node.output[place.dice.randrange(len(node.output))] = place.dice.choice(names)


def change_attribute(place: Place) -> bool | None:
    node, _ = place.node()
    plain = [a for a in node.attribute if not a.HasField("g")]
    if not plain:
        return False
    a, dice = place.dice.choice(plain), place.dice
    if a.type == onnx.AttributeProto.INT:
        a.i += dice.choice([-2, -1, 1, 2])
    elif a.type == onnx.AttributeProto.FLOAT:
        a.f = a.f * 2 + 1
    elif a.type == onnx.AttributeProto.INTS and a.ints:
        if dice.random() < 0.5:
            values = list(a.ints)
            dice.shuffle(values)
            a.ints[:] = values
        else:
            a.ints[dice.randrange(len(a.ints))] += dice.choice([-1, 1])
    elif a.type == onnx.AttributeProto.TENSOR:
        return _change_tensor(a.t, dice)
    elif a.type == onnx.AttributeProto.STRING:
        a.s = a.s[::-1]
    else:
        return False


FLAGS = {
    "Concat": ("axis",),
    "Gather": ("axis",),
    "Softmax": ("axis",),
    "Loop": (),
    "ArgMax": ("keepdims", "axis", "select_last_index"),
    "ReduceMax": ("keepdims",),
    "ReduceSum": ("keepdims",),
    "Transpose": ("perm",),
    "Flatten": ("axis",),
    "Shape": ("start", "end"),
    "CumSum": ("exclusive", "reverse"),
}


def set_attribute(place: Place) -> bool | None:
    """An attribute that was left out."""
    node, _ = place.node()
    names = [n for n in FLAGS.get(node.op_type, ()) if n not in {a.name for a in node.attribute}]
    if not names:
        return False
    name = place.dice.choice(names)
    value: Any = [1, 0] if name == "perm" else place.dice.choice([0, 1])
    node.attribute.append(onnx.helper.make_attribute(name, value))


def drop_attribute(place: Place) -> bool | None:
    node, _ = place.node()
    plain = [k for k, a in enumerate(node.attribute) if not a.HasField("g")]
    if not plain:
        return False
    del node.attribute[place.dice.choice(plain)]


SCANS = (
    "scan_input_directions",
    "scan_output_directions",
    "scan_input_axes",
    "scan_output_axes",
    "directions",
)


def turn_scan(place: Place) -> bool | None:
    scans = [n for g, _ in place.graphs for n in g.node if n.op_type == "Scan"]
    if not scans:
        return False
    node, name = place.dice.choice(scans), place.dice.choice(SCANS)
    count = next((a.i for a in node.attribute if a.name == "num_scan_inputs"), 1)
    body = next(a.g for a in node.attribute if a.name == "body")
    if "output" in name:
        count = len(body.output) - (len(body.input) - count)
    kept = [a for a in node.attribute if a.name != name]
    values = [place.dice.randrange(2) for _ in range(max(count, 0))]
    given = onnx.helper.make_attribute(name, values, attr_type=onnx.AttributeProto.INTS)
    del node.attribute[:]
    node.attribute.extend([*kept, given])


ALIKE = (
    ("Add", "Sub", "Mul", "Max", "Min", "Div", "Mod"),
    ("Tanh", "Neg", "Sigmoid", "Identity", "Softmax", "Abs", "Sin", "Relu", "Exp", "Sqrt"),
    ("And", "Or", "Xor"),
    ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"),
    ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd"),
    ("ArgMax", "ArgMin"),
    ("Unsqueeze", "Squeeze", "Reshape", "Expand", "Tile"),
    ("Gather", "GatherElements"),
    ("Shape", "Size", "Identity"),
    ("Not", "Identity"),
    ("Cast", "CastLike"),
    ("SequenceInsert", "Identity"),
)


def change_operator(place: Place) -> bool | None:
    node, _ = place.node()
    groups = [group for group in ALIKE if node.op_type in group]
    if not groups:
        return False
    node.op_type = place.dice.choice([n for n in place.dice.choice(groups) if n != node.op_type])


def bypass(place: Place) -> bool | None:
    """A node gives one of its inputs."""
    node, _ = place.node()
    given = [name for name in node.input if name]
    if not given or not node.output:
        return False
    kept, output = place.dice.choice(given), node.output[0]
    node.Clear()
    node.CopyFrom(onnx.helper.make_node("Identity", [kept], [output]))


def insert(place: Place) -> bool | None:
    """A node after another one that changes what it gives."""
    graph, _ = place.graph()
    at = place.dice.randrange(len(graph.node))
    node = graph.node[at]
    if not node.output or not node.output[0]:
        return False
    op_type = place.dice.choice(["Neg", "Not", "Transpose", "Abs", "Round", "Sign"])
    name = node.output[0]
    node.output[0] = f"{name}__changed"
    graph.node.insert(at + 1, onnx.helper.make_node(op_type, [node.output[0]], [name]))


def _change_tensor(tensor: onnx.TensorProto, dice: random.Random) -> bool:
    content = numpy_helper.to_array(tensor).copy()
    if not content.size:
        return False
    flat = content.reshape(-1)
    at = dice.randrange(len(flat))
    if content.dtype == bool:
        flat[at] = not flat[at]
    elif content.dtype.kind in "iu":
        flat[at] += dice.choice([-1, 1, 1, 2])
    elif content.dtype.kind == "f":
        flat[at] = dice.choice([-flat[at], flat[at] + 1, np.nan, -0.0])
    else:
        flat[at] = f"{flat[at]}?" if content.dtype.kind in "OUS" else flat[at]
    if dice.random() < 0.2 and len(flat) > 1:
        content = flat[::-1].reshape(content.shape)
    tensor.CopyFrom(numpy_helper.from_array(content, tensor.name))
    return True


def change_constant(place: Place) -> bool | None:
    tensors = [t for graph, _ in place.graphs for t in getattr(graph, "initializer", ())]
    tensors += [
        a.t for g, _ in place.graphs for n in g.node for a in n.attribute if a.HasField("t")
    ]
    return bool(tensors) and _change_tensor(place.dice.choice(tensors), place.dice)


def _body(place: Place) -> onnx.GraphProto | None:
    bodies = [g for g, _ in place.graphs[1:] if isinstance(g, onnx.GraphProto)]
    return place.dice.choice(bodies) if bodies else None


def swap_body_outputs(place: Place) -> bool | None:
    body = _body(place)
    return body is not None and _swap(body.output, place.dice)


def swap_body_inputs(place: Place) -> bool | None:
    body = _body(place)
    return body is not None and _swap(body.input, place.dice)


def _swap(infos: Any, dice: random.Random) -> bool:
    if len(infos) < 2:
        return False
    a, b = dice.sample(range(len(infos)), 2)
    infos[a].name, infos[b].name = infos[b].name, infos[a].name
    return True


def change_declaration(place: Place) -> bool | None:
    """The type that a body declares of an output or of an input."""
    body = _body(place)
    infos = [] if body is None else [*body.output, *body.input]
    if not infos:
        return False
    tensor = place.dice.choice(infos).type.tensor_type
    if tensor.shape.dim and place.dice.random() < 0.7:
        dim = place.dice.choice(tensor.shape.dim)
        dim.dim_value = dim.dim_value + 1
    elif place.dice.random() < 0.5:
        tensor.ClearField("shape")
    else:
        tensor.elem_type = place.dice.choice([1, 7, 9, 11])


def change_output_of_body(place: Place) -> bool | None:
    """A body gives out another of its values."""
    body = _body(place)
    if body is None or not body.output:
        return False
    names = [name for node in body.node for name in node.output if name]
    names += [info.name for info in body.input]
    if not names:
        return False
    place.dice.choice(body.output).name = place.dice.choice(names)


def swap_branches(place: Place) -> bool | None:
    ifs = [n for g, _ in place.graphs for n in g.node if n.op_type == "If"]
    if not ifs:
        return False
    one, other = place.dice.choice(ifs).attribute
    one.name, other.name = other.name, one.name


def change_type_of_cast(place: Place) -> bool | None:
    casts = [n for g, _ in place.graphs for n in g.node if n.op_type == "Cast"]
    if not casts:
        return False
    node = place.dice.choice(casts)
    del node.attribute[:]
    to = place.dice.choice([1, 6, 7, 9, 10, 11])
    node.attribute.append(onnx.helper.make_attribute("to", to))


def change_lengths(place: Place) -> bool | None:
    """A node is given other numbers than the vector of the input that it reads, such as lengths:
    one off, or in another order."""
    graph = place.model.graph
    sizes = {
        info.name: info.type.tensor_type.shape.dim[0].dim_value
        for info in graph.input
        if info.type.tensor_type.elem_type == onnx.TensorProto.INT64
        and len(info.type.tensor_type.shape.dim) == 1
    }
    readers = [
        (at, k)
        for at, node in enumerate(graph.node)
        for k, name in enumerate(node.input)
        if name in sizes
    ]
    if not readers:
        return False
    at, k = place.dice.choice(readers)
    name = graph.node[at].input[k]
    graph.node[at].input[k] = f"{name}__changed"
    if sizes[name] > 1 and place.dice.random() < 0.5:
        given, made = np.arange(sizes[name])[::-1].copy(), ("Gather", [name, "changed__by"])
    else:
        given = np.array(place.dice.choice([-1, 1]))
        made = place.dice.choice(["Add", "Sub"]), [name, "changed__by"]
    value = numpy_helper.from_array(given.astype(np.int64))
    graph.node.insert(at, onnx.helper.make_node(made[0], made[1], [f"{name}__changed"]))
    graph.node.insert(at, onnx.helper.make_node("Constant", [], ["changed__by"], value=value))


MUTATIONS: tuple[Mutation, ...] = (
    swap_inputs,
    swap_inputs,
    read_another,
    read_another,
    read_another,
    drop_input,
    swap_outputs,
    swap_results,
    rename_output,
    change_attribute,
    change_attribute,
    set_attribute,
    drop_attribute,
    turn_scan,
    change_operator,
    change_operator,
    bypass,
    insert,
    change_constant,
    change_constant,
    swap_body_outputs,
    swap_body_inputs,
    change_declaration,
    change_output_of_body,
    swap_branches,
    change_type_of_cast,
    change_lengths,
    change_lengths,
)


def mutated(origin: Origin, number: int) -> tuple[onnx.ModelProto, str]:
    """Mutant `number` of a rewritten model, and what was done to it."""
    dice = random.Random(f"{origin.name}:{number}")
    model = onnx.ModelProto()
    model.CopyFrom(origin.rewritten)
    done: list[str] = []
    wanted = 1 if dice.random() < 0.8 else 2
    for _ in range(20):
        mutation = dice.choice(MUTATIONS)
        if mutation(Place(model, dice)) is not False:
            done.append(mutation.__name__)
        if len(done) >= wanted:
            break
    return model, " and ".join(done)


# What is asked ------------------------------------------------------------------------------------


def bits(value: Any) -> Any:
    """A value down to its type, its shape and its bits; any NaN is a NaN."""
    if isinstance(value, list | tuple):
        return [bits(element) for element in value]
    if value is None:
        return None
    content = np.asarray(value)
    if content.dtype.kind in "OUS":
        return "str", content.shape, [str(element) for element in content.reshape(-1)]
    if content.dtype.kind == "f":
        content = np.where(np.isnan(content), np.array(np.nan, content.dtype), content)
    return str(content.dtype), content.shape, content.tobytes()


def ran(model: onnx.ModelProto, feeds: Sequence[Feeds]) -> list[Any] | None:
    """What a model gives for each input; None where it fails."""
    try:
        return [bits(reference.run(model, dict(feed), operators=[_bounded()])) for feed in feeds]
    except Error:
        return None


def _bounded() -> Any:
    budget = _TripsLeft()
    budget.trips = TRIPS
    return _bounded_loop(budget)


def is_valid(model: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception:  # noqa: BLE001 - whatever onnx raises says that it is not
        return False
    return True


def judged(origin: Origin, number: int, expected: Any) -> tuple[str, str]:
    """What became of a mutant: "invalid", "alike", "fails" when it is run, or "told apart"; with
    " proved" where it was said to be equal, which is asked of the last two."""
    model, done = mutated(origin, number)
    if not is_valid(model):
        return "invalid", done
    got = ran(model, origin.feeds)
    if got == expected:
        return "alike", done
    kind = "fails" if got is None else "told apart"
    proved = prove(origin.model, model).proved
    return f"{kind} proved" if proved else kind, done


def counted(found: Iterator[Origin], mutants: int = MUTANTS) -> tuple[Counter[str], list[str]]:
    """How many mutants of each kind there are, and those that must not be."""
    counts: Counter[str] = Counter()
    wrong = []
    for origin in found:
        expected = ran(origin.model, origin.feeds)
        if expected is None or not origin.rewritten.graph.node:
            counts["nothing to change"] += 1
            continue
        proof = prove(origin.model, origin.rewritten)
        counts["originals"] += 1
        counts["originals proved"] += proof.proved
        for number in range(mutants):
            kind, done = judged(origin, number, expected)
            counts[kind] += 1
            if kind.endswith("proved"):
                wrong.append(f"{origin.name}:{number} {kind}: {done}")
    return counts, wrong


def apart(number: int, mutants: int) -> tuple[Counter[str], list[str]]:
    """The same for the models of one number, in a process of its own: onnx's checker may crash."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_put, args=(results, number, mutants))
    child.start()
    try:
        return results.get(timeout=SECONDS)
    except queue.Empty:
        child.kill()
        return Counter(crashed=1), []
    finally:
        child.join()


def _put(results: Any, number: int, mutants: int) -> None:
    results.put(counted(origins(number, 1), mutants))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="of each model")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    begin = time.perf_counter()
    total: Counter[str] = Counter()
    failed = 0
    for number in range(arguments.seed, arguments.seed + arguments.models):
        counts, wrong = apart(number, arguments.mutants)
        total += counts
        failed += len([text for text in wrong if "told apart" in text])
        for text in wrong:
            print(text, flush=True)
        if number % 20 == 19:
            print(f"{number + 1}: {dict(total)}", flush=True)
    print(f"{dict(sorted(total.items()))} in {time.perf_counter() - begin:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
