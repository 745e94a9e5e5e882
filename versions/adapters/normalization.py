"""Normalisations and Dropout: training modes, and the scale of a group."""

from __future__ import annotations

from ..site import Site
from .registry import Outcome, downgrade, upgrade


@upgrade(14, "BatchNormalization")
@upgrade(9, "BatchNormalization")
def only_inference(site: Site) -> Outcome:
    """Outputs beyond the first meant training, in ways that later versions changed."""
    if any(site.is_used(index) for index in range(1, len(site.node.outputs))):
        site.refuse("it gives out training statistics, whose meaning changed")
    return None


@upgrade(21, "GroupNormalization")
def repeat_scale(site: Site) -> Outcome:
    """From opset 21 on there is one scale and bias for each channel, not for each group."""
    groups, shape = site.attribute("num_groups"), site.shape()
    if shape is not None and len(shape) > 1 and shape[1] is not None:
        times = site.ints([1, shape[1] // groups], "times")
    else:
        whole = site.emit("Shape", [site.input(0)], "channels", start=1, end=2)
        each = site.emit("Div", [whole, site.ints([groups], "groups")], "each")
        times = site.emit("Concat", [site.ints([1], "one"), each], "times", axis=0)
    for index in (1, 2):
        column = site.emit("Reshape", [site.input(index), site.ints([-1, 1], "column")])
        repeated = site.emit("Expand", [column, times])
        site.set_input(index, site.emit("Reshape", [repeated, site.ints([-1], "flat")]))
    elem_type = site.elem_type()
    if elem_type is not None:
        site.set("stash_type", elem_type)  # opset 18 computes in the type of its input
    return None


@downgrade(14, "BatchNormalization")
def not_training(site: Site) -> Outcome:
    """Before opset 14 a node with one output does inference."""
    if site.attribute("training_mode"):
        site.refuse("training_mode = 1 does not exist in opset 13")
    return None


@downgrade(12, "Dropout")
def dropout_for_inference(site: Site) -> Outcome:
    """In inference a Dropout passes its input on, whatever the ratio is."""
    if site.input(2) is not None:
        training = site.required_constant(2, "the training mode")
        if training.any():
            site.refuse("a Dropout in training mode draws at random, which opset 11 cannot say")
        site.set_input(2, None)
    if site.input(1) is not None and site.constant(1) is None:
        site.set_input(1, None)
    return None


@upgrade(10, "Dropout")
@downgrade(10, "Dropout")
def mask_is_unused(site: Site) -> Outcome:
    """The mask is a bool from opset 10 on and of the type of the data before."""
    if site.is_used(1):
        site.refuse("its mask is used, which has another type in the other version")
    return None


@upgrade(16, "RoiAlign")
def old_half_pixel(site: Site) -> Outcome:
    """Before opset 16 there was no other way to place the pixels."""
    site.set("coordinate_transformation_mode", "output_half_pixel")
    return None


@downgrade(16, "RoiAlign")
def only_old_half_pixel(site: Site) -> Outcome:
    """Opset 15 places pixels in one way only, which is not the default of opset 16."""
    mode = site.text("coordinate_transformation_mode")
    if mode != "output_half_pixel":
        site.refuse(f"coordinate_transformation_mode = '{mode}' does not exist in opset 15")
    site.drop("coordinate_transformation_mode")
    return None
