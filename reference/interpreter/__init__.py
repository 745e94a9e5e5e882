"""The interpreter of whole models by the reference semantics of each operator."""
