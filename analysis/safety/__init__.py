"""What may run although the original does not run it."""
