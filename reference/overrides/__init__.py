"""Operators of onnx.reference with other results than the specification, one file per family."""
