"""Passes, one per file, and the pipelines that run them."""

from ..ops.builder import RewriteError as RewriteError
from .base import Pass as Pass
from .base import PassContext as PassContext
from .base import PassContext as Run  # noqa: F401 - the name that passes from outside use
from .base import PassOptionError as PassOptionError
from .base import Progress as Progress
from .base import Watcher as Watcher
from .base import watching as watching
from .manager.pipeline import Pipeline as Pipeline
from .manager.pipeline import Result as Result
from .manager.pipeline_parser import accelerate as accelerate
from .manager.pipeline_parser import parse_pipeline as parse_pipeline
from .manager.pipeline_parser import straighten as straighten
from .manager.plugins import PluginError as PluginError
from .manager.plugins import load_file as load_file
from .manager.registry import *  # noqa: F403 - every pass, under its name
from .remarks import Remark as Remark
from .vetoes import StrictError as StrictError


def __getattr__(name: str) -> type[Pass]:
    """Find a former pass by the name of its class, with a warning."""
    from .manager.pipeline_parser import former_class

    return former_class(name)
