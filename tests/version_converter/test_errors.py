from straightline import Error
from straightline.version_converter import ConversionError, Failure

FAILURE = Failure("outer/clip", "Clip", 11, 10, "it is computed")


def test_a_failure_names_the_node_the_two_versions_and_the_reason():
    assert str(FAILURE) == "Clip 'outer/clip', opset 11 to 10: it is computed"
    assert FAILURE.to_dict() == {
        "path": "outer/clip",
        "op_type": "Clip",
        "from_version": 11,
        "to_version": 10,
        "reason": "it is computed",
    }


def test_an_error_lists_its_failures():
    error = ConversionError("1 node cannot be converted", [FAILURE])
    assert isinstance(error, Error)
    assert error.failures == (FAILURE,)
    assert error.lines() == ["1 node cannot be converted", str(FAILURE)]
    assert str(error) == f"1 node cannot be converted\n  {FAILURE}"


def test_an_error_may_have_no_node():
    error = ConversionError("the target is opset 6")
    assert (str(error), error.lines(), error.failures) == (
        "the target is opset 6",
        ["the target is opset 6"],
        (),
    )
