"""Runtimes in worker processes, under limits of memory and time."""
