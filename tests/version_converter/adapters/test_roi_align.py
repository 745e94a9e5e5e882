"""RoiAlign: where the pixels of a region lie."""

import onnx.parser
from conversions import assert_refuses, assert_writes
from straightline import convert_version

ROIS = "float[1, 1, 6, 6] x, float[1, 4] r, int64[1] b"


def test_half_pixels_of_roi_align():
    mode = 'coordinate_transformation_mode = "output_half_pixel"'
    old, new = (
        "RoiAlign <output_width = 2> (x, r, b)",
        f"RoiAlign <{mode}, output_width = 2> (x, r, b)",
    )
    assert_writes(f"y = {new}", 16, 15, [old], ROIS)
    assert_writes(f"y = {old}", 15, 16, [new.replace('"', "")], ROIS)
    assert_refuses(f"y = {old}", 16, 15, "mode = 'half_pixel' does not exist in opset 15", ROIS)


def test_roi_align_keeps_the_places_of_its_pixels() -> None:
    before = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 10]>
        g (float[1, 1, 6, 6] x, float[1, 4] r, int64[1] b) => (float[1, 1, 2, 2] y)
        { y = RoiAlign <output_height = 2, output_width = 2> (x, r, b) }
    """)
    (node,) = convert_version(before, 16).graph.node
    assert b"output_half_pixel" in [a.s for a in node.attribute]
    assert convert_version(convert_version(before, 16), 10).graph.node == before.graph.node
