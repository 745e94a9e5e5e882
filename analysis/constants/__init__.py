"""Values that depend on constants alone, and the sources of all others."""
