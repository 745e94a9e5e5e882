"""Symbolic execution: a graph run on terms, with a record of the nodes that may fail."""

from . import comparisons as comparisons
