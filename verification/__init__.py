"""Verification: prove that two models give equal outputs, or run both on samples."""

from .prove_or_run import compare, prove, verify, with_sample_shapes

__all__ = ["compare", "prove", "verify", "with_sample_shapes"]
