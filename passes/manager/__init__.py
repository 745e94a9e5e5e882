"""Pipelines of passes: registry, parser, plugins, instrumentation, and the search for the fastest
form."""
