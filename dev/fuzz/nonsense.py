"""Models of one or two nodes that are well formed and often make no sense, drawn from a seed.

    PYTHONPATH=tests/support python dev/fuzz/nonsense.py --models 10000 --seed 0
    PYTHONPATH=tests/support python dev/fuzz/nonsense.py --show 0:123

An operator of any opset is taken with inputs and attributes that its schema lets pass, or as one of
onnx's own tests has it, with some of that changed. Whatever is done with such a model ends in a
result or in one clear error.
"""

import argparse
import json
import os
import random
import resource
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import nonsense_nodes
import onnx
import straightline as sl
from fuzz_mutants import described
from nonsense_nodes import OPSETS, Drawn
from onnx import helper

SECONDS = 20
BATCH = 300
BYTES = 5 << 30
Stage = Callable[[onnx.ModelProto, random.Random], object]


def model(seed: int, number: int) -> onnx.ModelProto:
    """Model `number` of a seed."""
    rng = random.Random(f"{seed}:{number}")
    opset = rng.choice(OPSETS)
    drawn = nonsense_nodes.draw(rng, opset)
    if rng.random() < 0.3:
        drawn = drawn.followed_by(nonsense_nodes.draw(rng, opset), rng)
    place = rng.choice(
        (plain, plain, plain, in_a_function, in_a_loop, in_a_loop, in_a_scan, in_an_if)
    )
    return place(drawn, opset, rng)


# Where the nodes stand ----------------------------------------------------------------------------


def plain(drawn: Drawn, opset: int, rng: random.Random) -> onnx.ModelProto:
    outputs = [unknown(name) for name in drawn.outputs]
    return whole(drawn.nodes, drawn, outputs, opset)


def in_a_function(drawn: Drawn, opset: int, rng: random.Random) -> onnx.ModelProto:
    """Called, with some of the attributes given by the call."""
    given = []
    for node in drawn.nodes[-1:]:
        for attribute in node.attribute:
            if attribute.name not in {a.name for a in given} and rng.random() < 0.7:
                given.append(onnx.AttributeProto())
                given[-1].CopyFrom(attribute)
                attribute.Clear()
                attribute.name, attribute.type = given[-1].name, given[-1].type
                attribute.ref_attr_name = attribute.name
    inputs = [value.name for value in drawn.inputs] + [t.name for t in drawn.initializers]
    imports = [helper.make_opsetid("", opset)]
    names = [attribute.name for attribute in given]
    function = helper.make_function(
        "own", "f", inputs, drawn.outputs, drawn.nodes, imports, attributes=names
    )
    call = helper.make_node("f", inputs, drawn.outputs, domain="own")
    call.attribute.extend(given)
    made = whole([call], drawn, [unknown(name) for name in drawn.outputs], opset)
    made.functions.append(function)
    made.opset_import.add(domain="own", version=1)
    return made


def in_a_loop(drawn: Drawn, opset: int, rng: random.Random) -> onnx.ModelProto:
    """Each iteration reads values around it or one slice of an input; its results are stacked."""
    if not drawn.outputs:
        return plain(drawn, opset, rng)
    carried = rng.random() < 0.4 and drawn.inputs
    nodes = [helper.make_node("Identity", ["go"], ["more"]), *drawn.nodes]
    if not carried and drawn.inputs and rng.random() < 0.7:
        slices(drawn, nodes, "i", rng)
    inputs = [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("go", 9, [])]
    fed, given = ["iterations", ""], [unknown("more")]
    if not carried:
        inputs.append(helper.make_tensor_value_info("count", 7, []))
        fed.append("iterations")
        given.append(unknown("count"))
    outputs = list(drawn.outputs)
    made = [*([] if carried else ["last"]), *(f"all_{name}" for name in outputs)]
    if carried:
        state = drawn.inputs[0]
        renamed(nodes, state.name, "state")
        inputs.append(onnx.ValueInfoProto(name="state"))
        fed.append(state.name)
    for name in outputs:
        given.append(unknown(name))
    body = helper.make_graph(nodes, "iteration", inputs, given)
    loop = helper.make_node("Loop", fed, made, body=body)
    iterations = helper.make_tensor("iterations", 7, [], [rng.choice((0, 1, 2, 3))])
    return whole(
        [loop], drawn, [unknown(name) for name in made], opset, iterations, rng.random() < 0.5
    )


def in_a_scan(drawn: Drawn, opset: int, rng: random.Random) -> onnx.ModelProto:
    """On each slice of its first input."""
    if not drawn.inputs or not drawn.outputs or opset < 9:
        return plain(drawn, opset, rng)
    nodes = list(drawn.nodes)
    scanned = drawn.inputs[0].name
    renamed(nodes, scanned, "slice")
    body = helper.make_graph(
        nodes, "slices", [onnx.ValueInfoProto(name="slice")], [unknown(n) for n in drawn.outputs]
    )
    made = [f"all_{name}" for name in drawn.outputs]
    scan = helper.make_node("Scan", [scanned], made, body=body, num_scan_inputs=1)
    return whole([scan], drawn, [unknown(name) for name in made], opset)


def in_an_if(drawn: Drawn, opset: int, rng: random.Random) -> onnx.ModelProto:
    """In a branch, that a constant or run time chooses."""
    if not drawn.outputs:
        return plain(drawn, opset, rng)
    outputs = [unknown(name) for name in drawn.outputs]
    taken = helper.make_graph(drawn.nodes, "taken", [], outputs)
    nodes = [
        helper.make_node("Constant", [], [f"o_{n}"], value=helper.make_tensor("v", 1, [1], [0.5]))
        for n in drawn.outputs
    ]
    other = helper.make_graph(nodes, "other", [], [unknown(f"o_{n}") for n in drawn.outputs])
    made = [f"all_{name}" for name in drawn.outputs]
    node = helper.make_node("If", ["cond"], made, then_branch=taken, else_branch=other)
    cond = helper.make_tensor("cond", 9, [], [True])
    return whole([node], drawn, [unknown(n) for n in made], opset, cond, rng.random() < 0.5)


def slices(drawn: Drawn, nodes: list[onnx.NodeProto], index: str, rng: random.Random) -> None:
    name = rng.choice(drawn.inputs).name
    renamed(nodes, name, "slice")
    nodes.insert(0, helper.make_node("Gather", [name, index], ["slice"], axis=0))


def renamed(nodes: Sequence[onnx.NodeProto], old: str, new: str) -> None:
    for node in nodes:
        for place, name in enumerate(node.input):
            if name == old:
                node.input[place] = new


def unknown(name: str) -> onnx.ValueInfoProto:
    return onnx.ValueInfoProto(name=name)


def whole(
    nodes: Sequence[onnx.NodeProto],
    drawn: Drawn,
    outputs: Sequence[onnx.ValueInfoProto],
    opset: int,
    further: onnx.TensorProto | None = None,
    constant: bool = False,
) -> onnx.ModelProto:
    """A model of the nodes; what they need besides is a constant or an input."""
    inputs, initializers = list(drawn.inputs), list(drawn.initializers)
    if further is not None and constant:
        initializers.append(further)
    elif further is not None:
        dims = further.dims
        inputs.append(helper.make_tensor_value_info(further.name, further.data_type, dims))
    graph = helper.make_graph(nodes, "main", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


# What is done with them ---------------------------------------------------------------------------


def convert(target: int | None = None) -> Stage:
    def to(given: onnx.ModelProto, rng: random.Random) -> object:
        return sl.convert_version(given, target or rng.choice(OPSETS))

    to.__name__ = f"convert_{target or 'anywhere'}"
    return to


def inspect(given: onnx.ModelProto, rng: random.Random) -> object:
    return str(sl.inspect(given))


def rewrite(given: onnx.ModelProto, rng: random.Random) -> object:
    return sl.rewrite(given, max_nodes=2000)


def accelerate(given: onnx.ModelProto, rng: random.Random) -> object:
    return sl.rewrite(given, "accelerate")


def one_pass(given: onnx.ModelProto, rng: random.Random) -> object:
    return sl.rewrite(given, rng.choice(pass_names()))


def transform(given: onnx.ModelProto, rng: random.Random) -> object:
    return sl.transform(given, target=rng.choice(target_names()), verify=False)


def prove(given: onnx.ModelProto, rng: random.Random) -> object:
    """Equal to the same with an Identity more."""
    other = onnx.ModelProto.FromString(given.SerializeToString())
    for output in list(other.graph.output)[:1]:
        copy = helper.make_node("Identity", [output.name], [f"{output.name}_too"])
        other.graph.node.append(copy)
        output.name += "_too"
    return sl.prove(given, other)


@cache
def pass_names() -> list[str]:
    from straightline.passes.manager.registry import PASSES

    return [each.name for each in PASSES]


@cache
def target_names() -> list[str]:
    from straightline.targets.registry import names

    return list(names())


STAGES: tuple[Stage, ...] = (
    inspect,
    convert(7),
    convert(26),
    convert(),
    rewrite,
    accelerate,
    one_pass,
    transform,
    prove,
)


class Late(BaseException):
    """A stage takes too long."""


def late(*_: object) -> None:
    raise Late(f"over {SECONDS} s")


def faults(
    given: onnx.ModelProto, rng: random.Random, stages: Sequence[Stage] = STAGES
) -> Iterator[tuple[str, BaseException]]:
    """The stages that end neither in a result nor in an error of straightline's own."""
    signal.signal(signal.SIGALRM, late)
    for stage in stages:
        signal.alarm(SECONDS)
        try:
            stage(given, rng)
        except sl.Error as error:
            if not str(error).strip():
                yield stage.__name__, error
        except (Exception, Late) as error:  # noqa: BLE001 - this is what is looked for
            yield stage.__name__, error
        finally:
            signal.alarm(0)


# Processes ----------------------------------------------------------------------------------------


def told(
    seed: int, numbers: range, stages: Sequence[Stage] = STAGES
) -> Iterator[tuple[int, dict[str, str]]]:
    """The faults of models, each with its number; they are looked for in another process, which
    such a model may end."""
    while numbers:
        reading, writing = os.pipe()
        process = os.fork()
        if not process:
            os.close(reading)
            _look(seed, numbers[:BATCH], writing, stages)
            os._exit(0)
        os.close(writing)
        last = numbers.start
        for line in os.fdopen(reading):
            last, found = json.loads(line)
            if found:
                yield last, found
        if os.waitpid(process, 0)[1]:
            yield last, {"stage": "", "error": "ends the process", "where": ""}
        numbers = range(last + 1, numbers.stop)


def _look(seed: int, numbers: range, writing: int, stages: Sequence[Stage]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    for number in numbers:
        os.write(writing, f"[{number}, null]\n".encode())
        for stage, error in faults(model(seed, number), random.Random(number), stages):
            found = {"stage": stage, **described(error)}
            os.write(writing, f"{json.dumps([number, found])}\n".encode())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", help="one model and what is wrong with it, as SEED:NUMBER")
    names = [stage.__name__ for stage in STAGES]
    parser.add_argument("--stage", choices=names, help="what is done with each; all by default")
    options = parser.parse_args()
    stages = [stage for stage in STAGES if options.stage in (None, stage.__name__)]
    warnings.simplefilter("ignore")
    if options.show:
        seed, number = map(int, options.show.split(":"))
        given = model(seed, number)
        print(onnx.printer.to_text(given), flush=True)
        for stage, error in faults(given, random.Random(number), stages):
            print(stage)
            traceback.print_exception(error)
        return 0
    counts: Counter[str] = Counter()
    for number, found in told(options.seed, range(options.models), stages):
        key = f"{found['error'].partition(':')[0]} at {found['where']}"
        counts[key] += 1
        if counts[key] == 1:
            print(f"{options.seed}:{number} {found['stage']}: {found['error']}", flush=True)
            print(f"    {found['where']}", flush=True)
    print(f"{options.models} models, {counts.total()} faults of {len(counts)} kinds")
    return int(bool(counts))


if __name__ == "__main__":
    sys.exit(main())
