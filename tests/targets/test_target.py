from straightline.targets import Opsets, find

from targets import lacking, taking


def test_a_range_of_opsets_has_both_its_ends():
    span = Opsets(11, 17)
    assert [opset in span for opset in (10, 11, 17, 18)] == [False, True, True, False]
    assert [span.nearest(opset) for opset in (7, 13, 21)] == [11, 13, 17]
    assert (str(span), str(Opsets(9, 9))) == ("11 to 17", "9")


def test_control_flow_is_taken_where_it_is_listed():
    assert lacking("Scan").control_flow == ("If", "Loop", "SequenceMap")
    assert taking("If", "Add").control_flow == ("If",)
    assert find("onnx2torch").control_flow == ()


def test_a_target_as_json():
    told = lacking("Scan").to_dict()
    assert (told["opsets"], told["lacks"], told["operators"]) == ([13, 21], 1, None)
    assert told["source"] == {
        "list": "made up for tests",
        "version": "1",
        "date": "2026-01-01",
        "url": "",
    }
