import numpy as np
import onnx
import straightline as sl
from straightline.report.changes import changes
from straightline.report.model_data import describe

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
NET = (
    HEAD
    + """g (float[1, 3, 8, 8] x, float[4, 3, 3, 3] w) => (float[1, 4, 1, 1] z)
        <float[4] b = {1, 2, 3, 4}> {
    [conv] c = Conv <kernel_shape = [3, 3]> (x, w, b)
    r = Relu (c)
    q = Neg (r)
    p = GlobalAveragePool (q)
    z = Identity (p) }"""
)


def compared(before, after, **options):
    """The counts, and the rows that are no runs of equal nodes."""
    found = changes(describe(sl.ir.parse(before)), describe(sl.ir.parse(after)), **options)
    counts = {kind: count for kind, count in found.counts.items() if count}
    rows = [row for _, _, rows in found.graphs for row in rows if row.kind != "equal"]
    return counts, rows, found


def details(row):
    return [(change.name, change.before, change.after) for change in row.details]


def test_a_version_and_itself_are_one_run():
    counts, rows, found = compared(NET, NET)
    assert counts == {"equal": 5} and rows == []
    assert found.to_dict()["graphs"] == [[0, 0, [["equal", (0, 0), (0, 0), 5, []]]]]


def test_changed_attributes_and_constants_are_listed():
    other = NET.replace("[3, 3]>", "[3, 3], pads = [1, 1, 1, 1]>").replace("3, 4}", "3, 5}")
    counts, (row,), _ = compared(NET, other)
    assert counts == {"equal": 4, "changed": 1} and row.before == row.after == (0, 0)
    assert details(row) == [
        ("pads", "", "[1, 1, 1, 1]"),
        ("input B b", "[1, 2, 3, 4]", "[1, 2, 3, 5]"),
    ]


def test_an_added_node_changes_what_reads_it_and_nothing_else():
    other = NET.replace("q = Neg (r)", "a = Abs (r)\n q = Neg (a)")
    counts, (added, changed), _ = compared(NET, other)
    assert counts == {"equal": 4, "changed": 1, "added": 1}
    assert (added.kind, added.after) == ("added", (0, 2))
    assert details(changed) == [("input X", "r", "a")]
    _, (removed, back), _ = compared(other, NET)
    assert (removed.kind, removed.before) == ("removed", (0, 2))
    assert details(back) == [("input X", "a", "r")]


def test_nodes_with_other_names_match_by_structure():
    text = NET.replace("r = Relu", "r9 = Relu").replace("(r)", "(r9)").replace("[conv] c", "c9")
    counts, rows, _ = compared(NET, text.replace("(c)", "(c9)"))
    assert counts == {"equal": 5} and rows == []


def test_another_operator_of_the_same_name_is_a_change():
    counts, (row,), _ = compared(NET, NET.replace("r = Relu", "r = Elu"))
    assert counts == {"equal": 4, "changed": 1}
    assert details(row)[0] == ("operator", "Relu", "Elu")


def test_bodies_and_functions_are_compared_too():
    text = (
        HEAD
        + """g (float[2] x, bool c) => (float[2] y) {
        y = If (c) <then_branch = t () => (float[2] a) { a = Neg (x) },
                    else_branch = e () => (float[2] b) { b = Abs (x) }> }"""
    )
    counts, (row,), _ = compared(text, text.replace("Abs", "Exp"))
    assert counts == {"equal": 2, "changed": 1} and row.after == (2, 0)


def test_weights_are_compared_and_not_shown():
    def version(weights):
        model = sl.ir.parse(HEAD + "g (float[99] x) => (float[99] y) { y = Neg (x) }")
        value = model.graph.add_initializer("w", sl.ir.Tensor(array=weights))
        model.graph.set_input(model.graph.nodes()[0], 0, value)
        return describe(model)

    zeros = np.zeros(99, np.float32)
    same = changes(version(zeros), version(zeros.copy()))
    assert same.counts["equal"] == 1 and not same.uncompared
    ((_, _, (row,)),) = changes(version(zeros), version(np.eye(1, 99, 7, np.float32)[0])).graphs
    assert details(row) == [("input X w", "constant of 99 elements", "1 of 99 elements differ")]


def test_weights_whose_file_is_gone_are_counted(tmp_path):
    text = HEAD + "g (float[9] x) => (float[9] y) { y = Neg (x) }"
    proto = sl.ir.to_proto(sl.ir.parse(text))
    tensor = proto.graph.initializer.add(name="w", dims=[9], data_type=onnx.TensorProto.FLOAT)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="gone.bin")
    proto.graph.node[0].input[0] = "w"
    model = describe(sl.ir.load(proto, base_dir=tmp_path))
    assert changes(model, describe(sl.ir.load(proto, base_dir=tmp_path))).uncompared == 1


def test_rows_have_a_limit():
    counts, rows, found = compared(NET, HEAD + "g (float x) => (float y) { y = Exp (x) }", most=2)
    assert counts == {"removed": 5, "added": 1} and (len(rows), found.more) == (2, 4)
