"""Every error of straightline: one clear line that names the place and what to do next."""


class Error(Exception):
    """Base class of every error that straightline raises on purpose."""


class ModelError(Error):
    """The model itself is not well formed: an undefined name, a cycle, a wrong arity."""


class LoadError(Error):
    """The file or object could not be read as an ONNX model."""


class SaveError(Error):
    """The model could not be written; nothing was left behind."""


class GraphError(Error):
    """A mutator of the IR was asked for something that would break the graph."""
