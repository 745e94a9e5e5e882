"""Models of onnx_ir, in and out."""
