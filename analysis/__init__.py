"""What is known about a model before run time."""
