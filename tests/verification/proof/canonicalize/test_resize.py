import pytest
from proofs import is_proved
from spelled import model, require_open, require_same

SIGNATURE = "(float[1,1,2,3] x) => (float[1,1,4,6] y)"
SCALES = "<float[4] s = {1, 1, 2, 2}>"


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample_became_resize(mode):
    attribute = f'y = Upsample <mode = "{mode}", scales = [1.0, 1.0, 2.0, 2.0]> (x)'
    given = f'{SCALES} {{ y = Upsample <mode = "{mode}"> (x, s) }}'
    resized = f'{SCALES} {{ y = Resize <mode = "{mode}"> (x, s) }}'
    newest = (
        f'{SCALES} {{ y = Resize <mode = "{mode}", nearest_mode = "floor",'
        ' coordinate_transformation_mode = "asymmetric"> (x, "", s) }'
    )
    old = model(given, 9, SIGNATURE)
    require_same(old, model(resized, 10, SIGNATURE), "onnxruntime")
    require_same(old, model(newest, 13, SIGNATURE), "onnxruntime")
    require_same(old, model(attribute, 8, SIGNATURE), "onnxruntime")


def test_unused_inputs_are_empty_or_absent():
    empty = "<float[4] s = {1, 1, 2, 2}, float[0] r = {}> { y = Resize (x, r, s) }"
    absent = f'{SCALES} {{ y = Resize (x, "", s) }}'
    require_same(model(empty, 11, SIGNATURE), model(absent, 13, SIGNATURE), "onnxruntime")


def test_samples_between_pixels_stay():
    signature = "(float[1,1,4,6] x) => (float[1,1,2,4] y)"
    scales = "<float[4] s = {1, 1, 0.6, 0.7}>"
    old = f"{scales} {{ y = Resize (x, s) }}"
    new = (
        f'{scales} {{ y = Resize <nearest_mode = "floor",'
        ' coordinate_transformation_mode = "asymmetric"> (x, "", s) }'
    )
    require_open(model(old, 10, signature), model(new, 13, signature))


def test_other_pixels_are_another_resize():
    old = f"{SCALES} {{ y = Resize (x, s) }}"
    new = f'{SCALES} {{ y = Resize <mode = "linear"> (x, "", s) }}'
    require_open(model(old, 10, SIGNATURE), model(new, 13, SIGNATURE))


def test_scales_of_which_the_inverse_is_no_number_are_no_fault():
    text = '<float[3] s = {1, 1, 1e-45}> { z = Resize <mode = "nearest"> (x, s) y = %s (z) }'
    proto = model(text % "Neg", 10, "(float[1,1,4] x) => (float[1,1,k] y)")
    assert is_proved(proto, proto)


SAME_SIZE = """<float[4] s = {1, 1, 1, 1},
    float[4] t = {1, 1, 1, 1.25}, int64[1] z = {0}> { p = Shape (x) o = Add (p, z) y = %s }"""


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("places", ["half_pixel", "align_corners", "pytorch_half_pixel"])
def test_interpolation_in_the_same_size(mode, places):
    chosen = f'mode = "{mode}", coordinate_transformation_mode = "{places}"'
    batch = "(float[n,2,3,4] x) => (float[n,2,3,4] y)"
    before = model(SAME_SIZE % f'Resize <{chosen}> (x, "", "", p)', 13, batch)
    plain = f'mode = "{mode}", coordinate_transformation_mode = "asymmetric"'
    for inputs, same in (("s", True), ('"", o', True), ("t", False)):
        after = model(SAME_SIZE % f'Resize <{plain}> (x, "", {inputs})', 13, batch)
        assert is_proved(before, after) is same
    kept = model(SAME_SIZE % "Identity (x)", 13, batch)
    assert not is_proved(before, kept)  # onnxruntime keeps infinities; a product with 0 would not
    symmetric = chosen.replace(places, "half_pixel_symmetric")
    after = model(SAME_SIZE % f'Resize <{symmetric}> (x, "", s)', 19, batch)
    assert not is_proved(before, after)
