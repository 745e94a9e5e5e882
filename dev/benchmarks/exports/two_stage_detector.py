"""A detector in two stages, in torch alone: pyramid, proposals, RoIAlign by level, box head, NMS.

It computes what Faster R-CNN does, with the operators and in the order of the usual
implementations, as an exporter meets them: anchors from the sizes of feature maps, the best
proposals of each level, suppression by class, regions assigned to levels by their areas.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

_LARGEST = math.log(1000.0 / 16)


class Suppression(torch.autograd.Function):
    """Non-maximum suppression: NonMaxSuppression of ONNX, and a loop in torch."""

    @staticmethod
    def forward(ctx, boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
        order, kept = scores.argsort(descending=True, stable=True), []
        while order.numel():
            kept.append(order[0])
            order = order[1:][overlaps(boxes[order[0]], boxes[order[1:]]) <= threshold]
        return torch.stack(kept) if kept else order

    @staticmethod
    def symbolic(g, boxes, scores, threshold):
        axes = g.op("Constant", value_t=torch.tensor([0]))
        both = g.op("Constant", value_t=torch.tensor([0, 1]))
        most = g.op("Constant", value_t=torch.tensor([2**31 - 1]))
        limit = g.op("Constant", value_t=torch.tensor([threshold]))
        batch = g.op("Unsqueeze", boxes, axes), g.op("Unsqueeze", scores, both)
        chosen = g.op("NonMaxSuppression", *batch, most, limit)
        last = g.op("Constant", value_t=torch.tensor([2]))
        column = g.op("Gather", chosen, last, axis_i=1)
        return g.op("Squeeze", column, g.op("Constant", value_t=torch.tensor([1])))


class Alignment(torch.autograd.Function):
    """RoIAlign as detectors use it; in torch zeros of its shape."""

    @staticmethod
    def forward(ctx, features: Tensor, boxes: Tensor, batch: Tensor, scale: float) -> Tensor:
        return features.new_zeros(boxes.shape[0], features.shape[1], 7, 7) + scale

    @staticmethod
    def symbolic(g, features, boxes, batch, scale):
        mode = {"coordinate_transformation_mode_s": "output_half_pixel"} if g.opset > 15 else {}
        return g.op(
            "RoiAlign",
            features,
            boxes,
            batch,
            **mode,
            spatial_scale_f=scale,
            output_height_i=7,
            output_width_i=7,
            sampling_ratio_i=2,
        )


def overlaps(box: Tensor, others: Tensor) -> Tensor:
    """Intersection over union of a box with others."""
    low, high = torch.maximum(box[:2], others[:, :2]), torch.minimum(box[2:], others[:, 2:])
    shared = (high - low).clamp(min=0).prod(1)
    return shared / ((box[2:] - box[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(1) - shared)


def decode(deltas: Tensor, anchors: Tensor, weights: tuple[float, ...]) -> Tensor:
    """Boxes from offsets to anchors."""
    widths, heights = anchors[:, 2] - anchors[:, 0], anchors[:, 3] - anchors[:, 1]
    across, down = anchors[:, 0] + 0.5 * widths, anchors[:, 1] + 0.5 * heights
    dx, dy = deltas[:, 0::4] / weights[0], deltas[:, 1::4] / weights[1]
    dw = torch.clamp(deltas[:, 2::4] / weights[2], max=_LARGEST)
    dh = torch.clamp(deltas[:, 3::4] / weights[3], max=_LARGEST)
    x, y = dx * widths[:, None] + across[:, None], dy * heights[:, None] + down[:, None]
    w, h = torch.exp(dw) * widths[:, None], torch.exp(dh) * heights[:, None]
    half = torch.tensor(0.5, dtype=x.dtype)
    corners = (x - half * w, y - half * h, x + half * w, y + half * h)
    return torch.stack(corners, dim=2).flatten(1)


def clip(boxes: Tensor, size: Tensor) -> Tensor:
    """Boxes within the image."""
    x, y = boxes[..., 0::2], boxes[..., 1::2]
    zero = torch.zeros((), dtype=boxes.dtype)
    x = torch.minimum(torch.maximum(x, zero), size[1].to(boxes.dtype))
    y = torch.minimum(torch.maximum(y, zero), size[0].to(boxes.dtype))
    return torch.stack((x, y), dim=boxes.dim()).reshape(boxes.shape)


def by_class(boxes: Tensor, scores: Tensor, classes: Tensor, threshold: float) -> Tensor:
    """Suppression within each class: boxes of classes are moved apart."""
    offsets = classes.to(boxes) * (boxes.max() + torch.tensor(1.0).to(boxes))
    return Suppression.apply(boxes + offsets[:, None], scores, threshold)


class FrozenNorm(nn.Module):
    """Normalization by numbers that do not change, as sums and products."""

    def __init__(self, width: int) -> None:
        super().__init__()
        for name, numbers in {
            "weight": 1 + 0.2 * torch.randn(width),
            "bias": 0.2 * torch.randn(width),
            "mean": 0.2 * torch.randn(width),
            "variance": 1 + torch.rand(width),
        }.items():
            self.register_buffer(name, numbers)

    def forward(self, x: Tensor) -> Tensor:
        w, b = self.weight.reshape(1, -1, 1, 1), self.bias.reshape(1, -1, 1, 1)
        v, m = self.variance.reshape(1, -1, 1, 1), self.mean.reshape(1, -1, 1, 1)
        scale = w * (v + 1e-5).rsqrt()
        return x * scale + (b - m * scale)


class Block(nn.Module):
    """A residual block."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.first, self.norm1 = nn.Conv2d(inner, outer, 1, bias=False), FrozenNorm(outer)
        self.second = nn.Conv2d(outer, outer, 3, stride, 1, bias=False)
        self.norm2 = FrozenNorm(outer)
        self.third, self.norm3 = nn.Conv2d(outer, outer, 1, bias=False), FrozenNorm(outer)
        self.shortcut = None
        if stride != 1 or inner != outer:
            shortcut = nn.Conv2d(inner, outer, 1, stride, bias=False)
            self.shortcut = nn.Sequential(shortcut, FrozenNorm(outer))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.norm1(self.first(x)))
        y = torch.relu(self.norm2(self.second(y)))
        return torch.relu(self.norm3(self.third(y)) + (self.shortcut(x) if self.shortcut else x))


class Pyramid(nn.Module):
    """Residual stages, and a pyramid of their features."""

    def __init__(self, depths: tuple[int, ...], width: int, outer: int) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, width, 7, 2, 3, bias=False), FrozenNorm(width)
        stages, inner, widths = [], width, []
        for level, depth in enumerate(depths):
            widths.append(width << level)
            blocks = [Block(inner, widths[-1], 1 if level == 0 else 2)]
            blocks += [Block(widths[-1], widths[-1], 1) for _ in range(depth - 1)]
            stages.append(nn.Sequential(*blocks))
            inner = widths[-1]
        self.stages = nn.ModuleList(stages)
        self.inner = nn.ModuleList([nn.Conv2d(w, outer, 1) for w in widths])
        self.outer = nn.ModuleList([nn.Conv2d(outer, outer, 3, 1, 1) for _ in widths])

    def forward(self, x: Tensor) -> list[Tensor]:
        x = functional.max_pool2d(torch.relu(self.norm(self.stem(x))), 3, 2, 1)
        levels = []
        for stage in self.stages:
            x = stage(x)
            levels.append(x)
        last = self.inner[-1](levels[-1])
        results = [self.outer[-1](last)]
        for level in reversed(range(len(levels) - 1)):
            side = self.inner[level](levels[level])
            last = side + functional.interpolate(last, size=side.shape[-2:], mode="nearest")
            results.insert(0, self.outer[level](last))
        return [*results, functional.max_pool2d(results[-1], 1, 2, 0)]


class Proposals(nn.Module):
    """The regions that may hold an object."""

    def __init__(self, width: int, most: int) -> None:
        super().__init__()
        self.most = most
        self.conv = nn.Conv2d(width, width, 3, 1, 1)
        self.score, self.shift = nn.Conv2d(width, 3, 1), nn.Conv2d(width, 12, 1)

    def cells(self, level: int) -> Tensor:
        ratios, size = torch.tensor([0.5, 1.0, 2.0]).sqrt(), float(16 << level)
        heights, widths = ratios * size, size / ratios
        return (torch.stack([-widths, -heights, widths, heights], dim=1) / 2).round()

    def anchors(self, features: Tensor, image: Tensor, level: int) -> Tensor:
        rows, columns = features.shape[-2:]
        high, wide = image.shape[-2] // rows, image.shape[-1] // columns
        across = torch.arange(0, columns, dtype=torch.int32) * wide
        down = torch.arange(0, rows, dtype=torch.int32) * high
        y, x = torch.meshgrid(down, across, indexing="ij")
        y, x = y.reshape(-1), x.reshape(-1)
        shifts = torch.stack((x, y, x, y), dim=1)
        return (shifts.view(-1, 1, 4) + self.cells(level).view(1, -1, 4)).reshape(-1, 4)

    def forward(self, image: Tensor, levels: list[Tensor], size: Tensor) -> Tensor:
        boxes, scores, owners = [], [], []
        for index, features in enumerate(levels):
            hidden = torch.relu(self.conv(features))
            n, _, h, w = features.shape
            logits = self.score(hidden).view(n, -1, 1, h, w).permute(0, 3, 4, 1, 2)
            shifts = self.shift(hidden).view(n, -1, 4, h, w).permute(0, 3, 4, 1, 2)
            logits, shifts = logits.reshape(n, -1), shifts.reshape(-1, 4)
            decoded = decode(shifts, self.anchors(features, image, index), (1.0, 1.0, 1.0, 1.0))
            anchors = torch._shape_as_tensor(logits)[1].reshape(1)
            count = torch.minimum(torch.tensor([self.most]), anchors)
            best, chosen = logits[0].topk(
                count[0] if torch.onnx.is_in_onnx_export() else int(count)
            )
            boxes.append(decoded[chosen])
            scores.append(torch.sigmoid(best))
            owners.append(torch.full_like(chosen, index))
        found, score, owner = torch.cat(boxes), torch.cat(scores), torch.cat(owners)
        found = clip(found, size)
        wide, high = found[:, 2] - found[:, 0], found[:, 3] - found[:, 1]
        large = torch.where((wide >= 1e-3) & (high >= 1e-3))[0]
        found, score, owner = found[large], score[large], owner[large]
        return found[by_class(found, score, owner, 0.7)[: self.most]]


class Detector(nn.Module):
    """Boxes, scores and classes of one image."""

    def __init__(self, depths: tuple[int, ...] = (3, 4, 6, 3), width: int = 8) -> None:
        super().__init__()
        outer, hidden, self.classes = 16, 32, 5
        self.body = Pyramid(depths, width, outer)
        self.proposals = Proposals(outer, 20)
        self.hidden1, self.hidden2 = nn.Linear(outer * 49, hidden), nn.Linear(hidden, hidden)
        self.score = nn.Linear(hidden, self.classes)
        self.shift = nn.Linear(hidden, self.classes * 4)

    def regions(self, levels: list[Tensor], boxes: Tensor) -> Tensor:
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        level = torch.floor(4 + torch.log2(area.sqrt() / 64) + 1e-6)
        level = (torch.clamp(level, min=2, max=5).to(torch.int64) - 2).to(torch.int64)
        rows = boxes.new_zeros((boxes.shape[0], levels[0].shape[1], 7, 7))
        batch = torch.zeros_like(boxes[:, 0]).to(torch.int64)
        for index, features in enumerate(levels):
            here = torch.where(level == index)[0]
            part = Alignment.apply(features, boxes[here], batch[here], 1.0 / (4 << index))
            place = here.view(-1, 1, 1, 1).expand(here.shape[0], *part.shape[1:])
            rows = rows.scatter(0, place, part.to(rows.dtype))
        return rows

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        image = (image - torch.tensor([0.5, 0.4, 0.4])[:, None, None]) / torch.tensor(
            [0.2, 0.3, 0.2]
        )[:, None, None]
        size = torch._shape_as_tensor(image)[-2:]
        levels = self.body(image[None])
        boxes = self.proposals(image, levels, size)
        flat = self.regions(levels[:-1], boxes).flatten(start_dim=1)
        hidden = torch.relu(self.hidden2(torch.relu(self.hidden1(flat))))
        scores = functional.softmax(self.score(hidden), -1)
        found = decode(self.shift(hidden), boxes, (10.0, 10.0, 5.0, 5.0))
        found = clip(found.reshape(boxes.shape[0], -1, 4), size)
        labels = torch.arange(self.classes).view(1, -1).expand_as(scores)
        found, scores = found[:, 1:].reshape(-1, 4), scores[:, 1:].reshape(-1)
        labels = labels[:, 1:].reshape(-1)
        likely = torch.where(scores > 0.05)[0]
        found, scores, labels = found[likely], scores[likely], labels[likely]
        kept = by_class(found, scores, labels, 0.5)[:10]
        return found[kept], scores[kept], labels[kept]
