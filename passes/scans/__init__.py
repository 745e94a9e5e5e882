"""Unrolling of Scans, and what their sizes are."""
