import numpy as np
import pytest
from conversions import assert_becomes, assert_carried_everywhere, assert_refuses, assert_writes


def test_modes_of_grid_sample():
    signature = "float[1, 1, 4, 4] x, float[1, 2, 2, 2] g"
    for old, new in (("bilinear", "linear"), ("bicubic", "cubic"), ("nearest", "nearest")):
        up = [f"GridSample <mode = {new}> (x, g)"]
        down = [f"GridSample <mode = {old}> (x, g)"]
        assert_writes(f'y = GridSample <mode = "{old}"> (x, g)', 19, 20, up, signature)
        assert_writes(f'y = GridSample <mode = "{new}"> (x, g)', 20, 19, down, signature)
    volume = "float[1, 1, 4, 4, 4] x, float[1, 2, 2, 2, 3] g"
    assert_refuses("y = GridSample (x, g)", 20, 19, "samples inputs of rank 4 only", volume)


def test_the_nearest_pixel_is_gathered():
    assert_becomes("""16 to 15, float[2, 3, 4, 5] x, float[2, 6, 7, 2] g:
        y = GridSample <mode = "nearest", padding_mode = "border", align_corners = 1> (x, g) =>
        down = Gather <axis = 3> (g, 1)
        moved = Add (down, 1.0)
        part = Mul (moved, 0.5)
        place = Mul (part, 3.0)
        nearest = Round (place)
        above = Greater (nearest, 0.0)
        at_least = Where (above, nearest, 0.0)
        below = Less (at_least, 3.0)
        held = Where (below, at_least, 3.0)
        row = Cast <to = 7> (held)
        right = Gather <axis = 3> (g, 0)
        moved_2 = Add (right, 1.0)
        part_2 = Mul (moved_2, 0.5)
        place_2 = Mul (part_2, 4.0)
        nearest_2 = Round (place_2)
        above_2 = Greater (nearest_2, 0.0)
        at_least_2 = Where (above_2, nearest_2, 0.0)
        below_2 = Less (at_least_2, 4.0)
        held_2 = Where (below_2, at_least_2, 4.0)
        column = Cast <to = 7> (held_2)
        last = Transpose <perm = [0, 2, 3, 1]> (x)
        pixels = Flatten <axis = 3> (last)
        image = Mul ([[[0]], [[1]]], 4)
        line = Add (image, row)
        start = Mul (line, 5)
        flat = Add (start, column)
        found = Gather <axis = 0> (pixels, flat)
        y = Transpose <perm = [0, 3, 1, 2]> (found)""")


@pytest.fixture(params=["bilinear", "nearest", "bicubic"])
def mode(request):
    return request.param


@pytest.fixture(params=["zeros", "border", "reflection"])
def padding(request):
    return request.param


@pytest.fixture(params=[0, 1])
def corners(request):
    return request.param


@pytest.mark.sample(2)
@pytest.mark.parametrize("known", [True, False])
def test_numbers(mode, padding, corners, known):
    draw = np.random.default_rng(0)
    how = f'mode = "{mode}", padding_mode = "{padding}", align_corners = {corners}'
    body = f"y = GridSample <{how}> (x, g)"
    grid = draw.uniform(-3.5, 3.5, size=(2, 3, 2, 2))
    grid[0, 0], grid[0, 1, 0], grid[1, 0] = [[-1, 1], [1, -1]], 0, [[0.5, -0.25], [-1.25, 1.75]]
    sizes = ("2, 3, 4, 5", "2, 3, 2, 2") if known else ("A, B, C, D", "A, E, F, 2")
    for kind, dtype in (("float", np.float32), ("double", np.float64)):
        x = draw.uniform(1, 2, size=(2, 3, 4, 5)).astype(dtype)
        feeds, signature = {"x": x, "g": grid.astype(dtype)}, f"{kind}[{sizes[0]}] x"
        signature += f", {kind}[{sizes[1]}] g"
        places = ("graph", "body") if kind == "float" and known else ("graph",)
        targets = (15, 12, 9, 7) if known else (15, 9)
        assert_carried_everywhere(body, 16, targets, feeds, signature, places, rtol=1e-4)


@pytest.mark.sample(2)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, 2, 1, 3), (0, 1, 2, 2), (1, 0, 2, 2)])
def test_small_and_empty_images(mode, padding, corners, shape):
    how = f'mode = "{mode}", padding_mode = "{padding}", align_corners = {corners}'
    grid = np.array([[[[-1, -1], [0, 0.5]], [[1, 1], [7.3, -9.1]]]] * shape[0], np.float32)
    feeds = {"x": np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)}
    feeds["g"] = grid.reshape(shape[0], 2, 2, 2)
    for sizes in (", ".join(map(str, shape)), "A, B, C, D"):
        signature = f"float[{sizes}] x, float[{sizes.split(',')[0]}, 2, 2, 2] g"
        assert_carried_everywhere(
            f"y = GridSample <{how}> (x, g)",
            16,
            (15, 9),
            feeds,
            signature,
            ("graph",),
            rtol=1e-4,
            in_onnxruntime=all(shape),
        )


@pytest.mark.sample(3)
def test_pixels_and_places_that_are_no_numbers(mode, padding, corners):
    how = f'mode = "{mode}", padding_mode = "{padding}", align_corners = {corners}'
    x = np.array([[[[1, np.nan, 3], [np.inf, 5, 6], [7, 8, -np.inf]]]], np.float32)
    grid = np.array([[[[0, 0], [-0.4, 0.3]], [[0.9, 0.9], [-1, -0.7]]]], np.float32)
    signature = "float[1, 1, 3, 3] x, float[1, 2, 2, 2] g"
    body = f"y = GridSample <{how}> (x, g)"
    feeds = {"x": x, "g": grid}
    assert_carried_everywhere(body, 16, (15, 9), feeds, signature, ("graph",), rtol=1e-4)
    # What onnxruntime reads at such places is left to chance, and so are mirrored and cubic ones.
    grid = np.array([[[[np.nan, 0], [np.inf, 0]], [[0, -np.inf], [0, 1e30]]]], np.float32)
    feeds = {"x": np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3), "g": grid}
    if padding != "reflection" and mode != "bicubic":
        assert_carried_everywhere(
            body, 16, (15, 9), feeds, signature, ("graph",), rtol=1e-4, in_onnxruntime=False
        )


@pytest.mark.parametrize("type_", ["int64", "bool", "string", "uint8"])
def test_the_nearest_of_any_type(type_):
    x = np.array([[[[1, 0], [3, 4]]]]).astype(object if type_ == "string" else type_)
    x = np.array([[[["a", "b"], ["c", "d"]]]], object) if type_ == "string" else x
    feeds = {"x": x, "g": np.array([[[[-1, 1], [0.7, 0.2]]]], np.float32)}
    signature = f"{type_}[1, 1, 2, 2] x, float[1, 1, 2, 2] g"
    body = 'y = GridSample <mode = "nearest", padding_mode = "border"> (x, g)'
    assert_carried_everywhere(body, 16, (15, 9), feeds, signature, ("graph", "branch"))


def test_in_a_function():
    feeds = {"x": np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)}
    feeds["g"] = np.array([[[[-1, 1], [0.7, 0.2]]]], np.float32)
    signature = "float[1, 1, 3, 4] x, float[1, 1, 2, 2] g"
    for mode in ("bilinear", "nearest"):
        body = f'y = GridSample <mode = "{mode}"> (x, g)'
        assert_carried_everywhere(
            body, 16, (15, 10, 8), feeds, signature, ("function", "branch"), rtol=1e-5
        )


def test_forms_that_are_not_written_out():
    reason = "GridSample does not exist in opset 15 .another form: "
    signature = "{}[1, 1, 4, 4] x, {}[1, 2, 2, 2] g"
    for given, how, why in (
        (("float", "float16"), "", "an image and a grid of floats or doubles"),
        (("int32", "float"), "", "mode = 'bilinear' has a longer form for floats and doubles only"),
        (("string", "float"), '<mode = "nearest">', "strings have no zero"),
    ):
        body = f"y = GridSample {how} (x, g)"
        assert_refuses(body, 16, 15, reason + ".*" + why, signature.format(*given))
    unknown = "float[] x, float[1, 2, 2, 2] g"
    why = "a GridSample needs the rank of input 0"
    assert_refuses("y = GridSample (x, g)", 16, 15, reason + why, unknown)
