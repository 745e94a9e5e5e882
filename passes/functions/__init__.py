"""Functions of a model: inlined, and removed where nothing calls them."""
