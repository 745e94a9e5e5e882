"""Scans: unrolled, and carried between the forms of opset 8 and 9."""
