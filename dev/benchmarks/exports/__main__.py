"""Export networks of transformers and of torch alone, for comparisons of simplifiers.

Run: python dev/benchmarks/exports FOLDER [--only REGEX]

It writes NAME.onnx and its inputs NAME.npz: small networks, Swin with the depths of swin_s. The
TorchScript exporter writes NAME_OPSET, torch.export NAME_dyn_OPSET. It needs torch, transformers,
scipy, onnx and onnxscript, but neither torchvision nor weights from the network.
"""

import argparse
import contextlib
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import transformers
from torch import Tensor, nn
from two_stage_detector import Detector

_LEGACY, _DYNAMO = (13, 17), (18,)
_SIDES = {2: "height", 3: "width"}


class Case(NamedTuple):
    """A network, its arguments by name, and the axes of any size."""

    make: Callable[[], nn.Module]
    arguments: dict[str, Tensor]
    open_axes: dict[str, dict[int, str]] | None = None
    legacy: tuple[int, ...] = _LEGACY
    dynamo: tuple[int, ...] = _DYNAMO


class Outputs(nn.Module):
    """A network whose outputs are tensors, by names."""

    def __init__(self, network: nn.Module, *names: str) -> None:
        super().__init__()
        self.network, self.names = network, names

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        results = self.network(*tensors)
        return tuple(results[name] for name in self.names)


def trained(network: nn.Module) -> nn.Module:
    """Scales, biases and running statistics as training leaves them: no ones and zeros."""
    with torch.no_grad():
        for tensor in (*network.parameters(), *network.buffers()):
            if tensor.dim() == 1 and tensor.is_floating_point() and len(tensor) > 1:
                tensor.add_(0.2 * torch.rand_like(tensor))
    return network.eval()


def image(side: int) -> dict[str, Tensor]:
    return {"pixels": torch.rand(1, 3, side, side)}


def resnet(**options: object) -> transformers.ResNetConfig:
    return transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[2, 2, 2, 2], **options
    )


def cases() -> dict[str, Case]:
    """The networks by name."""
    hf = transformers
    windows = {"embed_dim": 12, "depths": [2, 2, 18, 2], "num_heads": [1, 2, 4, 4]}
    stages = resnet(out_features=["stage2", "stage3", "stage4"])
    batch = {"pixels": {0: "batch"}}
    sides = {"pixels": _SIDES}
    transformer = {
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "num_queries": 10,
    }

    def backbone(config: type, model: type, **options: object) -> Callable[[], nn.Module]:
        def make() -> nn.Module:
            return Outputs(model(config(**options)), "logits", "pred_boxes")

        return make

    def swin(**options: object) -> nn.Module:
        return Outputs(hf.SwinForImageClassification(hf.SwinConfig(**windows, **options)), "logits")

    own_backbone = {"use_timm_backbone": False, "backbone": None, "backbone_config": stages}
    return {
        "swin_s": Case(swin, image(224), batch),
        "swin_s_open": Case(swin, image(224), {"pixels": {0: "batch", **_SIDES}}, dynamo=()),
        "swinv2": Case(
            lambda: Outputs(
                hf.Swinv2ForImageClassification(
                    hf.Swinv2Config(**{**windows, "depths": [2, 2, 6, 2]}, window_size=8)
                ),
                "logits",
            ),
            image(256),
            batch,
        ),
        "faster_rcnn": Case(
            Detector,
            {"image": torch.rand(3, 96, 128)},
            {"image": {1: "height", 2: "width"}},
            dynamo=(),
        ),
        "detr": Case(
            backbone(hf.DetrConfig, hf.DetrForObjectDetection, **transformer, **own_backbone),
            image(64),
            sides,
        ),
        "conditional_detr": Case(
            backbone(
                hf.ConditionalDetrConfig,
                hf.ConditionalDetrForObjectDetection,
                **transformer,
                **own_backbone,
            ),
            image(64),
            sides,
        ),
        "deformable_detr": Case(
            backbone(
                hf.DeformableDetrConfig,
                hf.DeformableDetrForObjectDetection,
                **transformer,
                **own_backbone,
                num_feature_levels=3,
            ),
            image(64),
            batch,
            legacy=(17,),
        ),
        "rt_detr": Case(
            backbone(
                hf.RTDetrConfig,
                hf.RTDetrForObjectDetection,
                backbone_config=hf.RTDetrResNetConfig(
                    embedding_size=8,
                    hidden_sizes=[8, 16, 24, 32],
                    depths=[2, 2, 2, 2],
                    out_features=["stage2", "stage3", "stage4"],
                ),
                encoder_in_channels=[16, 24, 32],
                encoder_hidden_dim=32,
                encoder_ffn_dim=64,
                encoder_attention_heads=4,
                d_model=32,
                num_queries=10,
                decoder_in_channels=[32, 32, 32],
                decoder_ffn_dim=64,
                decoder_layers=2,
                decoder_attention_heads=4,
                anchor_image_size=None,
            ),
            image(96),
            batch,
            legacy=(17,),
        ),
    }


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Neither warnings nor the exporter's progress."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        transformers.logging.set_verbosity_error()
        yield


def write(folder: Path, name: str, case: Case) -> None:
    """Export a network by each exporter, to each of its opsets."""
    for dynamo, opset in [(False, o) for o in case.legacy] + [(True, o) for o in case.dynamo]:
        path = folder / f"{name}{'_dyn' if dynamo else ''}_{opset}.onnx"
        options: dict[str, object] = (
            {"external_data": False, "verbose": False}
            if dynamo
            else {"dynamic_axes": case.open_axes}
        )
        torch.manual_seed(0)
        network = trained(case.make())
        if opset < 14:  # the exporter spells attention out
            for part in network.modules():
                if hasattr(part, "set_attn_implementation"):
                    part.set_attn_implementation("eager")
        try:
            torch.onnx.export(
                network,
                tuple(case.arguments.values()),
                str(path),
                dynamo=dynamo,
                opset_version=opset,
                input_names=list(case.arguments),
                **options,
            )
        except Exception as error:  # noqa: BLE001 - an exporter that lacks an operator
            print(f"{path.stem}: {type(error).__name__}: {str(error).splitlines()[0][:150]}")
            path.unlink(missing_ok=True)
            continue
        arrays = {key: value.numpy() for key, value in case.arguments.items()}
        np.savez(path.with_suffix(".npz"), **arrays)
        print(path.stem, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="a regular expression of names")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        for name, case in cases().items():
            if re.search(options.only, name):
                write(options.folder, name, case)


if __name__ == "__main__":
    main()
