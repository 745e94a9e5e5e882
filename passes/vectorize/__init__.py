"""Loop vectorization: a body computed for all iterations at once, as JAX batches a function."""
