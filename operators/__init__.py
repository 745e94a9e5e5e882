"""What is known about each operator."""
