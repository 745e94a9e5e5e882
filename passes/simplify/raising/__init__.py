"""Raising: longer forms become the operators of the model's opset."""
