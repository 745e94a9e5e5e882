"""Trip counts and bounds of Loops."""
