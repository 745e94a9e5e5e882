"""What depends on constants alone, and what a value that is not constant depends on."""
