"""Pipelines of passes: registry, parser, plugins, instrumentation, autotuning."""
