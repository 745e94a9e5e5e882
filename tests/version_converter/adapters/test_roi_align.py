import numpy as np
import pytest
from conversions import assert_refuses, assert_writes, model
from harness import as_model
from sessions import open_session
from straightline import convert_version


def test_half_pixels_of_roi_align():
    mode = 'coordinate_transformation_mode = "output_half_pixel"'
    old, new = (
        "RoiAlign <output_width = 2> (x, r, b)",
        f"RoiAlign <{mode}, output_width = 2> (x, r, b)",
    )
    rois = "float[1, 1, 6, 6] x, float[1, 4] r, int64[1] b"
    assert_writes(f"y = {new}", 16, 15, [old], rois)
    assert_writes(f"y = {old}", 15, 16, [new.replace('"', "")], rois)
    reason = "with 'half_pixel', the size of a region of it is computed at run time"
    assert_refuses(f"y = {old}", 16, 15, reason, rois)
    other = old.replace("<", '<coordinate_transformation_mode = "other", ')
    assert_refuses(f"y = {other}", 16, 15, "there is no coordinate_transformation_mode", rois)
    small = f"r = Constant <value = float[1, 4] {{0, 0, 3, 0.5}}> () y = {old}"
    reason = "a region is smaller than a pixel, or no scale above 0"
    assert_refuses(small, 16, 15, reason, rois.replace(", float[1, 4] r", ""))


@pytest.mark.sample(5)
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 1, 2])
@pytest.mark.parametrize("scale", [0.5, 1.0, 0.3])
def test_regions_half_a_pixel_further(mode, ratio, scale):
    x = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)
    feeds = {"x": x, "b": np.array([1, 0])}
    how = f'mode = "{mode}", sampling_ratio = {ratio}, spatial_scale = {scale}'
    body = "r = Constant <value = float[2, 4] {0, 0, 5, 6.5, 1, 2.25, 7, 7}> ()"
    body += f" y = RoiAlign <output_height = 2, output_width = 3, {how}> (x, r, b)"
    before = model(body, 16, "float[2, 3, 8, 8] x, int64[2] b")
    after = convert_version(before, 13)
    runs = [open_session(proto).run(None, feeds)[0] for proto in (before, after)]
    np.testing.assert_allclose(*runs, 1e-4, 1e-5)


def test_roi_align_keeps_the_places_of_its_pixels() -> None:
    before = as_model(
        """g (float[1, 1, 6, 6] x, float[1, 4] r, int64[1] b) => (float[1, 1, 2, 2] y)
        { y = RoiAlign <output_height = 2, output_width = 2> (x, r, b) }""",
        10,
    )
    (node,) = convert_version(before, 16).graph.node
    assert b"output_half_pixel" in [a.s for a in node.attribute]
    (back,) = convert_version(convert_version(before, 16), 10).graph.node
    before.graph.node[0].name = back.name
    assert back.attribute == before.graph.node[0].attribute
