"""Small faults put into the source, to see which of them the tests notice."""
