"""Passes on Loops and Ifs: unrolling, inlining, predication, conversion to selects."""
