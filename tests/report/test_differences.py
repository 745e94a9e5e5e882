import straightline as sl
from reports import DECODER
from straightline.report.differences import Change, differences
from straightline.report.model_data import describe


def compared(before, after):
    return differences(*(describe(sl.ir.load(model)) for model in (before, after)))


MODEL = sl.ir.parse(DECODER)


def test_a_model_does_not_differ_from_itself():
    found = compared(MODEL, MODEL)
    assert found.none and found.changed_operators == ()
    assert found.versions == found.inputs == found.outputs == ()


def test_operators_and_control_flow_are_counted_those_that_changed_most_first():
    found = compared(MODEL, sl.rewrite(MODEL))
    assert not found.none
    assert (
        Change("Loop", "2", "1") in found.control_flow
        and Change("If", "2", "0") in found.control_flow
    )
    steps = [abs(int(row.after) - int(row.before)) for row in found.operators]
    assert steps == sorted(steps, reverse=True) and steps[0] == 3


def test_an_input_that_is_bound_is_there_no_more():
    found = compared(MODEL, sl.rewrite(MODEL, values={"n": 2}))
    assert found.inputs == (Change("n", "int64", ""),)
    assert found.outputs == (Change("rows", "float[T,1,4]", "float[2,1,4]"),)


def test_types_and_names_of_inputs_and_outputs_differ():
    text = '<ir_version: 8, opset_import: ["" : 17]>'
    text += " g (float[{0}] x) => (float[{0}] {1}) {{ {1} = Abs (x) }}"
    found = compared(*(sl.ir.parse(text.format(*given)) for given in (("N", "y"), (2, "z"))))
    assert found.inputs == (Change("x", "float[N]", "float[2]"),)
    assert found.outputs == (Change("y", "float[N]", ""), Change("z", "", "float[2]"))


def test_versions_differ():
    found = compared(MODEL, sl.convert_version(MODEL, 18))
    assert Change("opset ai.onnx", "17", "18") in found.versions


def test_as_json_takes_it():
    told = compared(MODEL, sl.rewrite(MODEL)).to_dict()
    assert told["none"] is False
    assert told["sizes"][0] == {"name": "nodes", "before": "23", "after": "23"}


def test_bytes_of_files_are_told_where_there_are_files():
    data = describe(MODEL)
    assert differences(data, data, (1000, 2500)).sizes[-1] == Change(
        "size of files", "1000 bytes", "2.4 KB"
    )
    assert differences(data, data, (1000, None)).sizes[-1].name == "size of constants"
