"""Passes on Loops and Scans that stay: hoisting, counting, conversion of one into the other."""
