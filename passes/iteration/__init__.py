"""Loops, Scans and SequenceMaps as one form, and the steps that their rewrites share."""
