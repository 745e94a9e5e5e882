"""Registry of all passes: first the default pipeline in its order, then the optional ones.

Recurrences are raised before loops are vectorized: the operator needs the weights in the body.
`dev/tools/passes.py` adds a line for each new class; its place in the order is written by hand.
"""

# ruff: noqa: I001, PLC0414 - the order matters, and each name is re-exported
from ..base import Pass
from ..cleanup.freeze_initializers import FreezeInitializers as FreezeInitializers
from ..cleanup.fold_constants import FoldConstants as FoldConstants
from ..cleanup.fold_shapes import FoldShapes as FoldShapes
from ..control.propagate_invariants import ForwardInvariants as ForwardInvariants
from ..cleanup.eliminate_identities import EliminateIdentities as EliminateIdentities
from ..loops.count_loops import CountLoops as CountLoops
from ..recurrences.recognize.search_loops import SearchLoops as SearchLoops
from ..loops.hoist_invariants import HoistInvariants as HoistInvariants
from ..functions.inline_functions import InlineFunctions as InlineFunctions
from ..recurrences.recognize.raise_recurrences import RaiseRecurrences as RaiseRecurrences
from ..vectorize.vectorize_loops import VectorizeLoops as VectorizeLoops
from ..loops.block_loops import BlockLoops as BlockLoops
from ..control.unroll_loops import UnrollLoops as UnrollLoops
from ..scans.unroll_scans import UnrollScans as UnrollScans
from ..control.decide_empty_cases import DecideEmptyCases as DecideEmptyCases
from ..control.inline_ifs import InlineIfs as InlineIfs
from ..control.hoist_common_nodes import HoistCommonNodes as HoistCommonNodes
from ..sequences.lower_sequences import LowerSequences as LowerSequences
from ..simplify.read_operands import ReadOperands as ReadOperands
from ..loops.copy_outputs import CopyOutputs as CopyOutputs
from ..cleanup.eliminate_dead_nodes import EliminateDeadNodes as EliminateDeadNodes
from ..functions.eliminate_dead_functions import EliminateDeadFunctions as EliminateDeadFunctions
from ..cleanup.infer_shapes import InferShapes as InferShapes
from ..cleanup.cancel_movement import CancelMovement as CancelMovement
from ..cleanup.merge_constants import MergeConstants as MergeConstants
from ..simplify.raising.raise_normalizations import RaiseNormalizations as RaiseNormalizations
from ..simplify.raising.raise_reductions import RaiseReductions as RaiseReductions
from ..simplify.raising.raise_movement import RaiseMovement as RaiseMovement
from ..simplify.raising.raise_rotations import RaiseRotations as RaiseRotations
from ..simplify.raising.raise_attention import RaiseAttention as RaiseAttention
from ..simplify.raising.raise_products import RaiseProducts as RaiseProducts
from ..simplify.raising.raise_activations import RaiseActivations as RaiseActivations
from ..simplify.apply_rules import ApplyRules as ApplyRules
from ..simplify.merge_subexpressions import MergeSubexpressions as MergeSubexpressions
from ..simplify.simplify_sizes import SimplifySizes as SimplifySizes
from ..simplify.merge_slices import MergeSlices as MergeSlices
from ..simplify.merge_products import MergeProducts as MergeProducts
from ..simplify.omit_zero_states import OmitZeroStates as OmitZeroStates
from ..simplify.flatten_stacks import FlattenStacks as FlattenStacks
from ..simplify.hoist_before_splits import HoistBeforeSplits as HoistBeforeSplits
from ..control.predicate_loops import PredicateLoops as PredicateLoops
from ..loops.loops_to_scans import LoopsToScans as LoopsToScans
from ..loops.merge_states import MergeStates as MergeStates
from ..loops.store_rows import StoreRows as StoreRows
from ..loops.forward_stores import ForwardStores as ForwardStores
from ..loops.mask_prefixes import MaskPrefixes as MaskPrefixes
from ..loops.scans_to_loops import ScansToLoops as ScansToLoops
from ..functions.simplify_bodies import SimplifyBodies as SimplifyBodies
from ..control.ifs_to_selects import IfsToSelects as IfsToSelects
from ..loops.unswitch_loops import UnswitchLoops as UnswitchLoops
from ..recurrences.expand.expand_recurrences import ExpandRecurrences as ExpandRecurrences

PASSES: tuple[type[Pass], ...] = tuple(
    kind for kind in [*vars().values()] if isinstance(kind, type) and kind is not Pass
)
"""The passes imported above, in that order."""

DEFAULT_PASSES = tuple(kind(**kind.default_options) for kind in PASSES if kind.by_default)
"""The passes of the default pipeline, with their options there."""
