"""Integers without overflow, and the trip counts that loops make of them."""
