"""The rewrites, one per file, and the pipeline that runs them."""

from .base import Pass as Pass
from .base import PassOptionError as PassOptionError
from .base import Progress as Progress
from .base import Remark as Remark
from .base import RewriteError as RewriteError
from .base import Run as Run
from .base import Watcher as Watcher
from .pipeline import Pipeline as Pipeline
from .pipeline import Result as Result
from .pipeline import StrictError as StrictError
from .plugins import PluginError as PluginError
from .plugins import load_file as load_file
from .registry import *  # noqa: F403 - every pass, under its name
from .text import accelerate as accelerate
from .text import parse_pipeline as parse_pipeline
from .text import straighten as straighten
from .watching import watching as watching
