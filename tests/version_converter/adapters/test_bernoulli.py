import numpy as np
import pytest
from conversions import assert_becomes, convert_version, model
from sessions import open_session


def test_nodes_of_each_step():
    assert_becomes("""15 to 14: y = Bernoulli <seed = 3.0, dtype = 6> (x) =>
        drawn = RandomUniformLike <seed = 3.0> (x)
        below = Less (drawn, x)
        y = Cast <to = 6> (below)""")


@pytest.mark.parametrize("name", ["float", "double"])
def test_it_gives_one_as_often_as_the_probability_says(name):
    after = convert_version(model("y = Bernoulli <seed = 3.0> (x)", 15, f"{name}[4, 1000] x"), 9)
    session = open_session(after)
    x = np.repeat([[0], [0.25], [0.75], [1]], 1000, 1)
    x = x.astype(np.float32 if name == "float" else np.float64)
    (drawn,) = session.run(None, {"x": x})
    assert drawn.dtype == x.dtype and set(drawn.reshape(-1)) == {0, 1}
    assert drawn[0].max() == 0 and drawn[3].min() == 1
    np.testing.assert_allclose(drawn.mean(1), [0, 0.25, 0.75, 1], atol=0.05)
