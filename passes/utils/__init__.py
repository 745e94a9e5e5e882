"""What passes build with: making nodes, guards, selects, replacing."""
