"""What makes a model smaller or says more of it, whatever its control flow."""
