from typing import Any

import onnx
import pytest
from onnx import helper
from straightline.ir import ModelError
from straightline.ir.checker.scans import check_scan
from tables import table


def scan(inputs: int = 3, outputs: int = 3, scanned: int = 2, **lists: Any) -> onnx.NodeProto:
    """A Scan of one state, two scanned inputs and two scan outputs."""
    body = helper.make_graph(
        [], "b", [], [onnx.ValueInfoProto(name=f"o{i}") for i in range(outputs)]
    )
    names = [f"i{i}" for i in range(inputs)]
    return helper.make_node("Scan", names, ["y"], body=body, num_scan_inputs=scanned, **lists)


@table(
    ({"scan_input_axes": [0]}, "has 1 scan_input_axes for 2 scanned inputs"),
    ({"scan_input_directions": [0, 1, 0]}, "has 3 scan_input_directions for 2 scanned"),
    ({"scan_output_axes": [0]}, "has 1 scan_output_axes for 2 scan outputs"),
    ({"scan_output_directions": [0, 2]}, "has 2 among its scan_output_directions, which are"),
    ({"scan_input_directions": [-1, 0]}, "has -1 among its scan_input_directions"),
)
def test_lists_that_do_not_fit(lists: dict[str, list[int]], fault: str) -> None:
    with pytest.raises(ModelError, match=f"Scan 's' {fault}"):
        check_scan(scan(**lists), "Scan 's'", 9)


def test_lists_that_fit() -> None:
    check_scan(scan(), "Scan 's'", 9)
    check_scan(
        scan(
            scan_input_axes=[-1, 5],
            scan_input_directions=[0, 1],
            scan_output_axes=[0, -2],
            scan_output_directions=[1, 1],
        ),
        "Scan 's'",
        9,
    )


def test_the_lengths_of_a_scan_8_are_no_state() -> None:
    check_scan(scan(inputs=4, directions=[0, 1]), "Scan 's'", 8)
    with pytest.raises(ModelError, match="has 1 directions for 2 scanned inputs"):
        check_scan(scan(inputs=4, directions=[1]), "Scan 's'", 8)
    check_scan(scan(inputs=4, scan_output_axes=[0, 0]), "Scan 's'", 8)
    with pytest.raises(ModelError, match="for 1 scan outputs"):
        check_scan(scan(inputs=4, scan_output_axes=[0, 0]), "Scan 's'", 9)


def test_attributes_from_a_call_are_unknown() -> None:
    node = scan(scan_output_axes=[0, 0])
    for attribute in node.attribute:
        if attribute.name == "num_scan_inputs":
            attribute.ref_attr_name = "count"
    node.attribute.append(helper.make_attribute("scan_input_axes", [0, 0, 0]))
    check_scan(node, "Scan 's'", 9)
    given = scan()
    given.attribute.append(
        onnx.AttributeProto(name="scan_input_axes", type=7, ref_attr_name="axes", ints=[1])
    )
    check_scan(given, "Scan 's'", 9)
