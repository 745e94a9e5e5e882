"""Models in files and messages: read, write, external data, names."""
