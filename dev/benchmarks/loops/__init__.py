"""Models with loops as they are written in practice, each with the best form written by hand."""
