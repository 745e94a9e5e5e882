"""Passes on a model's own functions: inlining, and removal of dead ones."""
