"""Static analyses of models: facts before run time."""
