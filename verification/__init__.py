"""Verification: prove that two models give equal outputs, or run both on samples."""

from .prove_or_run import checked_sample_shapes, prove, verify

__all__ = ["checked_sample_shapes", "prove", "verify"]
