import pytest
from straightline import ModelError
from straightline.ir.faults import raises_faults
from straightline.passes.faults import Fault, ObserverFault, observing
from straightline.passes.vetoes import NONE, current_vetoes


def test_exceptions_of_observers_are_no_faults():
    with pytest.raises(LookupError), observing():
        raise LookupError
    with pytest.raises(ObserverFault) as caught, NONE.in_force(), observing():
        raise LookupError
    assert isinstance(caught.value.__cause__, LookupError)
    assert current_vetoes() is NONE


def test_errors_for_the_caller_pass_as_they_are():
    with pytest.raises(ModelError), NONE.in_force(), observing():
        raise ModelError("odd")


def test_tests_raise_faults_and_users_survive_them(monkeypatch):
    assert raises_faults()
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")
    assert not raises_faults()
    assert Fault("p", (("If", "x"),)).places == (("If", "x"),)
