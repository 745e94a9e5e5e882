"""straightline rewrites ONNX models so that control flow disappears or changes form."""
