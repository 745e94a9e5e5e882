"""Random tree ensembles, as attributes of ai.onnx.ml."""

import numpy as np

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
_COLUMNS = ["treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids"]
TRACKS = "missing_value_tracks_true"


def ensemble(draw, trees=5, depth=4, modes=MODES[:1], missing=False):
    """The nodes of some trees, and their leaves as pairs of tree and node."""
    table, leaves = {name: [] for name in (*_COLUMNS, TRACKS)}, []

    def add(tree, depth, count):
        number, at = count[0], len(table["treeids"])
        count[0] += 1
        for column in table.values():
            column.append(0)
        table["treeids"][at], table["nodeids"][at] = tree, number
        table["values"][at] = float(draw.integers(-2, 3))
        if not depth or draw.random() < 0.15:
            table["modes"][at] = "LEAF"
            leaves.append((tree, number))
            return number
        table["modes"][at] = modes[draw.integers(len(modes))]
        table["featureids"][at] = int(draw.integers(4))
        table[TRACKS][at] = int(draw.integers(2)) if missing else 0
        table["truenodeids"][at] = add(tree, depth - 1, count)
        table["falsenodeids"][at] = add(tree, depth - 1, count)
        return number

    for tree in range(trees):
        add(tree, depth, [0])
    return {f"nodes_{name}": column for name, column in table.items()}, leaves


def weights(draw, leaves, prefix, columns, positive=False):
    """A weight of each leaf for each column."""
    rows = [(*leaf, column) for leaf in leaves for column in columns]
    numbers = draw.random(len(rows)) + 0.01 if positive else draw.normal(size=len(rows))
    names = ("treeids", "nodeids", "ids")
    lists = {f"{prefix}_{n}": [row[at] for row in rows] for at, n in enumerate(names)}
    return {**lists, f"{prefix}_weights": numbers.astype(np.float32).tolist()}
