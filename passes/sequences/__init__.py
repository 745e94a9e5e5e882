"""Sequences and optionals, replaced by their tensors."""
