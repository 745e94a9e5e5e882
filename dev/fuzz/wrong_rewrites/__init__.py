"""Small changes that make another model of a rewritten one: what a proof must not call equal."""

from wrong_rewrites.bodies import (
    change_declaration,
    change_output_of_body,
    swap_body_inputs,
    swap_body_outputs,
    swap_branches,
    turn_scan,
)
from wrong_rewrites.failing import gather_far_away, hoist, reshape_another
from wrong_rewrites.place import Mutation, Place
from wrong_rewrites.saying import (
    change_attribute,
    change_constant,
    change_operator,
    change_type_of_cast,
    drop_attribute,
    set_attribute,
)
from wrong_rewrites.wiring import (
    bypass,
    change_lengths,
    drop_input,
    insert,
    read_another,
    rename_output,
    swap_inputs,
    swap_outputs,
    swap_results,
)

__all__ = ["MUTATIONS", "Place"]

MUTATIONS: tuple[Mutation, ...] = (
    swap_inputs,
    swap_inputs,
    read_another,
    read_another,
    read_another,
    drop_input,
    swap_outputs,
    swap_results,
    rename_output,
    change_attribute,
    change_attribute,
    set_attribute,
    drop_attribute,
    turn_scan,
    change_operator,
    change_operator,
    bypass,
    insert,
    change_constant,
    change_constant,
    swap_body_outputs,
    swap_body_inputs,
    change_declaration,
    change_output_of_body,
    swap_branches,
    change_type_of_cast,
    change_lengths,
    change_lengths,
    reshape_another,
    gather_far_away,
    gather_far_away,
    hoist,
)
"""Those that find more stand more often."""
