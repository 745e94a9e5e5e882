"""Declared sizes and imports, as clients require them."""

from collections.abc import Iterator

from ..ir import Graph, Model, Value, normal_domain
from ..ir.copying import without_symbols


def drop_open_declarations(model: Model) -> int:
    """Remove the declarations of values in the main graph whose sizes are not all numbers.

    Those in bodies lose their names alone: numbers decide sizes of loops without iterations.

    Returns:
        the number of declarations that were removed or changed.
    """
    bodies = (graph for graph in model.graphs() if graph.holder is not None)
    loosened = sum(_loosen(body) for body in bodies)
    graph = model.graph
    declared = {*graph.inputs, *graph.outputs}
    others = [
        entry
        for entry in graph.value_infos
        if not isinstance(entry, Value) or entry in declared or _is_known(entry)
    ]
    count = len(graph.value_infos) - len(others)
    if count:
        graph.value_infos[:] = others
    return count + loosened


def _loosen(body: Graph) -> int:
    """Drop names of sizes from declarations of a body; count those that had some."""
    count = 0
    for value in {*body.inputs, *(v for v in body.value_infos if isinstance(v, Value))}:
        if value.info is not None and (loose := without_symbols(value.info)) is not value.info:
            value.info = loose
            count += 1
    infos = [without_symbols(info) for info in body.output_infos]
    changed = sum(new is not old for new, old in zip(infos, body.output_infos, strict=True))
    if changed:
        body.set_outputs(body.outputs, infos)
    return count + changed


def _is_known(value: Value) -> bool:
    return all(isinstance(size, int) for size in value.shape or ())


def size_options(model: Model) -> Iterator[str]:
    """Yield the options that fix the open sizes of a model's inputs, named ones first."""
    inputs = [v for v in model.graph.inputs if v not in model.graph.initializers and v.shape]
    names = dict.fromkeys(dim for v in inputs for dim in v.shape or () if isinstance(dim, str))
    yield from (f"--dim {name}=..." for name in names if name)
    for value in inputs:
        if any(dim is None or dim == "" for dim in value.shape or ()):
            yield f"--shape {value.name}=..."


def drop_unused_imports(model: Model) -> bool:
    """Remove imports of domains without operators, but for ONNX's own."""
    changed = False
    for root in model.roots():
        nodes = [node for graph in root.graph.walk() for node in graph.unordered_nodes()]
        domains = {normal_domain(node.domain) for node in nodes} | {""}
        for domain in [d for d in root.opset_imports if normal_domain(d) not in domains]:
            del root.opset_imports[domain]
            changed = True
    return changed
