"""Comparison of two models by running both on samples."""
