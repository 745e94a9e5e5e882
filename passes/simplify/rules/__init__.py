"""Rewrite rules as data: patterns, their matcher, their driver, and their proofs."""
