import pytest
from straightline.definitions import Unfit
from straightline.definitions.fused_activations import activation


def test_parameters_become_attributes():
    assert activation(None, (), "x", "y") == "y = Identity (x)"
    assert activation("Tanh", (), "x", "y") == "y = Tanh (x)"
    assert activation("Selu", (1.5, None, 2.0), "x", "y") == (
        "y = Selu <alpha = 1.5, gamma = 2.0> (x)"
    )
    assert activation("Clip", (-1.0, 2.0), "x", "y") == "y = Clip <min = -1.0, max = 2.0> (x)"
    for name in ("ParametricSoftplus", "ScaledTanh"):
        assert activation(name, (2.0, 3.0), "x", "y").count("Mul") == 2
    assert "beta = 0.5" in activation("HardSwish", (), "x", "y")


def test_unknown_activations_are_unfit():
    for name, parameters in (("Foo", ()), ("Elu", ()), ("Clip", (1.0,))):
        with pytest.raises(Unfit):
            activation(name, parameters, "x", "y")
