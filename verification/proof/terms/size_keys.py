"""Keys of output sizes: two nodes of one key have outputs of equal sizes, if of other elements.

The sizes of a Reshape by `[n, -1, k]` of a tensor `[n, 4, m, 8]` may have no formula, since a size
0 copies an axis. Still, they are those of any other Reshape of such a tensor by such sizes.
"""

from collections.abc import Hashable, Set

from ....facts.fact import Content
from ....facts.polynomial import product
from ....ir import normal_domain
from ....ops import described
from ....ops.rules import OLDEST_OPSET
from .free_variables import Sizes
from .term import Args, Head, Term


def size_key(head: Head, args: Args, count: int, symbols: Sizes) -> Hashable:
    """Key of all that the output sizes of a head depend on; None if that is not certain.

    Args:
        count: number of its outputs.
    """
    rules = None if head.op is None else described().get(head.op.qualname)
    if rules is None or head.op is None or normal_domain(head.op.domain):
        return None
    if head.opset < OLDEST_OPSET:
        return None
    if head.name == "Reshape" and (key := _reshape_key(head, args, symbols)) is not None:
        return key
    parts: list[Hashable] = [head, count]
    for index, arg in enumerate(args):
        part = None if arg is None else _operand_key(arg, index in rules.sized_by, symbols)
        if arg is not None and part is None:
            return None
        parts.append(part)
    return tuple(parts)


def _reshape_key(head: Head, args: Args, symbols: Sizes) -> Hashable:
    """Key of a Reshape that copies no axis: the number of its elements determines the rest."""
    x, target = args if len(args) == 2 else (None, None)
    if x is None or target is None or x.fact.shape is None or target.fact.content is None:
        return None
    sizes = list(target.fact.content.reshape(-1))
    if None in sizes or x.fact.other is not None:
        return None
    if not head.attribute("allowzero", 0) and any(size.equals(0) is not False for size in sizes):
        return None
    return _constant_key(x.fact.elem_type, (head.name, product(x.fact.shape), *sizes), symbols)


def _operand_key(arg: Term, gives_size: bool, symbols: Sizes) -> Hashable:
    """Key of an operand: its elements, if it gives sizes, or its shape."""
    fact = arg.fact
    if fact.shape is None or fact.other is not None:
        return None
    if not gives_size:
        return _constant_key(fact.elem_type, fact.shape, symbols)
    if fact.content is not None and None not in fact.content.reshape(-1):
        return _constant_key(fact.elem_type, ("content", *_flat(fact.content)), symbols)
    return None if symbols.free(arg) else arg


def _flat(content: Content) -> tuple[Hashable, ...]:
    return (content.shape, *content.reshape(-1))


def _constant_key(elem_type: int, sizes: tuple[Hashable, ...], symbols: Sizes) -> Hashable:
    """Key of sizes; None if an iteration may change one."""
    names: Set[str] = frozenset().union(*[getattr(size, "symbols", ()) for size in sizes])
    return None if symbols.vary(names) else (elem_type, sizes)
