import numpy as np
from classical import one_node, refused, replaced
from tables import table

X = np.array([[0.5], [2.0], [np.nan]], np.float32)
TREE = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [1.0, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_ids": [0, 0],
    "target_weights": [10.0, 20.0],
    "n_targets": 1,
}


def test_a_tree_of_one_comparison():
    outcome = replaced(one_node("TreeEnsembleRegressor", X, **TREE), {"x": X})
    names = [node.op_type for node in outcome.model.graph.node]
    assert names == ["Gather", "LessOrEqual", "Where", "Gather", "ReduceSum"]


@table(
    ({"nodes_truenodeids": [7, 0, 0]}, "missing"),
    ({"nodes_truenodeids": [2, 0, 0]}, "not trees"),
    ({"nodes_truenodeids": [0, 0, 0]}, "not trees"),
    ({"nodes_nodeids": [0, 1, 1]}, "no node"),
    ({"nodes_modes": ["LEAF", "LEAF", "BRANCH_LEQ"]}, "not trees"),
    ({"nodes_modes": ["BRANCH_MEMBER", "LEAF", "LEAF"]}, "unknown"),
    ({"target_nodeids": [1, 9]}, "no node"),
    ({"target_ids": [0, 1]}, "no node"),
)
def test_malformed_trees_stay(change, reason):
    refused(one_node("TreeEnsembleRegressor", X, **{**TREE, **change}), reason)
