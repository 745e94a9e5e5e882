"""What compilers and runtimes make of models with control flow, before and after a rewrite."""
