"""Equality of terms: rules of comparison, each of which reduces a pair of terms to other pairs."""

from . import selections as selections
