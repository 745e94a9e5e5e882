"""Loops and Scans that stay: hoisted from, or computed for all trips at once."""
