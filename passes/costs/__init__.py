"""Costs of models in a runtime, measured, by which passes choose among forms."""
