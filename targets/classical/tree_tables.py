"""Tables of the nodes of a tree ensemble, read from its attributes."""

from collections import Counter

import numpy as np
import onnx

from ...ir import Array
from ...records import record
from ...version_converter.node_draft import NodeDraft

_MAX_ELEMENTS = 1 << 24
"""Limit of a table of leaves."""
_LEAF = "LEAF"


@record(frozen=True)
class Trees:
    """The nodes of all trees, each with its number in the tables.

    Attributes:
        features: the feature that a node compares.
        thresholds: the number that it compares with.
        modes: how it compares.
        if_true: the next node where the comparison holds; a leaf itself.
        if_false: the next node otherwise.
        if_missing: true where the comparison holds for NaN, too.
        depth: the number of comparisons on the longest path.
    """

    roots: Array
    features: Array
    thresholds: Array
    modes: Array
    if_true: Array
    if_false: Array
    if_missing: Array
    depth: int

    @property
    def branch_modes(self) -> list[str]:
        """The comparisons of its nodes, each once."""
        return sorted(set(self.modes.tolist()) - {_LEAF})


def read_trees(draft: NodeDraft) -> Trees:
    """The trees of a node.

    Raises:
        Refused: its nodes are not trees.
    """
    trees, ids = (_integers(draft, f"nodes_{name}") for name in ("treeids", "nodeids"))
    modes = np.array([mode.decode() for mode in draft.attribute("nodes_modes") or ()], object)
    count = len(modes)
    places = {key: at for at, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    if not count or len(places) != count or len(trees) != count:
        draft.refuse("its nodes are not numbered")
    leaves = modes == _LEAF
    own = np.arange(count)
    nexts = [own.copy(), own.copy()]
    for direction, name in zip(nexts, ("true", "false"), strict=True):
        children = _integers(draft, f"nodes_{name}nodeids")
        for at in np.flatnonzero(~leaves).tolist():
            place = places.get((int(trees[at]), int(children[at])))
            if place is None:
                draft.refuse("a child of its nodes is missing")
            direction[at] = place
    roots = _roots(draft, trees, leaves, nexts)
    missing = _integers(draft, "nodes_missing_value_tracks_true")
    return Trees(
        roots,
        _integers(draft, "nodes_featureids"),
        values_of(draft, "nodes_values"),
        modes,
        nexts[0],
        nexts[1],
        missing.astype(bool) if missing.size else np.zeros(count, bool),
        _depth(draft, roots, leaves, nexts),
    )


def leaf_table(draft: NodeDraft, prefix: str, columns: int) -> Array:
    """The weights of each node, in a column for each score; 0 where it has none."""
    trees, ids = (_integers(draft, f"nodes_{name}") for name in ("treeids", "nodeids"))
    if columns * len(trees) > _MAX_ELEMENTS:
        draft.refuse("the table of its leaves is too large")
    places = {key: at for at, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    weights = values_of(draft, f"{prefix}_weights")
    table = np.zeros((len(trees), columns), weights.dtype)
    names = ("treeids", "nodeids", "ids")
    lists = [_integers(draft, f"{prefix}_{name}").tolist() for name in names]
    for tree, node, column, weight in zip(*lists, weights, strict=True):
        at = places.get((tree, node))
        if at is None or not 0 <= column < columns:
            draft.refuse("its weights belong to no node")
        # A leaf may list a score several times.
        table[at, column] += weight
    return table


def always_scored(draft: NodeDraft, columns: int) -> bool:
    """Test whether every row gets a score in each column.

    It does from a tree whose leaves all have one.

    Positive weights without base values do as well, since a column without a score is then no
    greatest one.
    """
    if (values_of(draft, "class_weights") > 0).all() and not values_of(draft, "base_values").size:
        return True
    trees, modes = _integers(draft, "nodes_treeids"), draft.attribute("nodes_modes")
    is_leaf = np.array([mode.decode() == _LEAF for mode in modes])
    leaves = dict(zip(*np.unique(trees[is_leaf], return_counts=True), strict=True))
    names = ("treeids", "nodeids", "ids")
    scored = set(zip(*(_integers(draft, f"class_{n}").tolist() for n in names), strict=True))
    counts = Counter((tree, column) for tree, _, column in scored)
    complete = {column for (tree, column), count in counts.items() if count == leaves.get(tree)}
    return len(complete) == columns


def values_of(draft: NodeDraft, name: str) -> Array:
    """Numbers in a list of floats, or in a tensor of doubles."""
    tensor = draft.attribute(f"{name}_as_tensor") if draft.schema.since_version >= 3 else None
    if isinstance(tensor, onnx.TensorProto):
        array: Array = onnx.numpy_helper.to_array(tensor)
        return array.reshape(-1)
    return np.array(draft.attribute(name) or (), np.float32)


def _integers(draft: NodeDraft, name: str) -> Array:
    return np.array(draft.attribute(name) or (), np.int64)


def _roots(draft: NodeDraft, trees: Array, leaves: Array, nexts: list[Array]) -> Array:
    """The first node of each tree. It must be no child; every other node must be one child."""
    branches = np.flatnonzero(~leaves)
    children = np.concatenate([each[branches] for each in nexts])
    _, first = np.unique(trees, return_index=True)
    expected = np.setdiff1d(np.arange(len(trees)), first)
    if not np.array_equal(np.sort(children), expected):
        draft.refuse("its nodes are not trees with their roots first")
    return np.sort(first)


def _depth(draft: NodeDraft, roots: Array, leaves: Array, nexts: list[Array]) -> int:
    level, depth = roots, 0
    while True:
        level = level[~leaves[level]]
        if not level.size:
            return depth
        depth += 1
        if depth > len(leaves):
            draft.refuse("its nodes form a circle")
        level = np.concatenate([each[level] for each in nexts])
