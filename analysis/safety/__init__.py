"""Safety of code that runs although the original does not run it."""
