"""Types, shapes, and the content of small integer tensors."""
