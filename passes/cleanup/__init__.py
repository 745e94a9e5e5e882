"""Passes that fold, merge, remove and infer, apart from control flow."""
