"""GridSample: the names of its modes, and its rank."""

from conversions import assert_refuses, assert_writes


def test_modes_of_grid_sample():
    signature = "float[1, 1, 4, 4] x, float[1, 2, 2, 2] g"
    for old, new in (("bilinear", "linear"), ("bicubic", "cubic"), ("nearest", "nearest")):
        up = [f"GridSample <mode = {new}> (x, g)"]
        down = [f"GridSample <mode = {old}> (x, g)"]
        assert_writes(f'y = GridSample <mode = "{old}"> (x, g)', 19, 20, up, signature)
        assert_writes(f'y = GridSample <mode = "{new}"> (x, g)', 20, 19, down, signature)
    volume = "float[1, 1, 4, 4, 4] x, float[1, 2, 2, 2, 3] g"
    assert_refuses("y = GridSample (x, g)", 20, 19, "samples inputs of rank 4 only", volume)
