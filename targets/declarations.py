"""Declared sizes and imports, as clients require them."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import Model, Value, normal_domain


def drop_open_declarations(model: Model) -> int:
    """Remove the declarations of values in the main graph whose sizes are not all numbers.

    Those in bodies stay, since they decide sizes of loops without iterations.

    Returns:
        the number of declarations that were removed.
    """
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
    return count


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
