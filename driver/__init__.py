"""Drivers of whole rewrites: transform, convert, fit to a target, inspect."""
