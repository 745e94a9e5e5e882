"""Passes that make flat graphs smaller: rules, common subexpressions, raised operators."""
