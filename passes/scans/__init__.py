"""Passes on Scans: unrolling, and conversion between the forms of opset 8 and 9."""
