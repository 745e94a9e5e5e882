"""Shared parts of passes: costs, legality, selects, replacement, fixpoints."""
