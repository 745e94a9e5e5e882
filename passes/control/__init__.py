"""Loops and Ifs: unrolled, inlined, predicated, made into selects."""
