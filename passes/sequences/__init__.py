"""Lowering of sequences and optionals to their tensors."""
