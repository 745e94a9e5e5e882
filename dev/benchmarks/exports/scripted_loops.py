"""Export loops as people write them in torch: filters, cells, decoders, lists, frames, segments.

Run: python dev/benchmarks/exports/scripted_loops.py FOLDER

It writes NAME.onnx by the TorchScript exporter, with an open size for the rows. Then
`python dev/benchmarks/scripted_loops.py FOLDER` tells which loops are left. It needs torch.
"""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn, randn


class Case(NamedTuple):
    """A network with a loop, its arguments, and which of them have a fixed size."""

    network: type[nn.Module]
    arguments: tuple[Tensor, ...]
    fixed: tuple[int, ...]
    axis: int


CASES: list[Case] = []


def loop(
    *arguments: Tensor, fixed: tuple[int, ...] = (), axis: int = 0
) -> Callable[[type[nn.Module]], type[nn.Module]]:
    """Register a network."""

    def register(network: type[nn.Module]) -> type[nn.Module]:
        CASES.append(Case(network, arguments, fixed, axis))
        return network

    return register


@loop(randn(7, 3))
class EmaList(nn.Module):
    def forward(self, x):
        s = x[0]
        out: list[Tensor] = []
        for i in range(x.size(0)):
            s = 0.9 * s + 0.1 * x[i]
            out.append(s)
        return torch.stack(out)


@loop(randn(7, 3))
class DecayedMax(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x[0])
        out: list[Tensor] = []
        for i in range(x.size(0)):
            y = torch.maximum(y * 0.9, x[i])
            out.append(y)
        return torch.stack(out)


@loop(randn(7, 3))
class InplaceCumsum(nn.Module):
    def forward(self, x):
        out = torch.zeros_like(x)
        for i in range(x.size(0)):
            if i == 0:
                out[i] = x[i]
            else:
                out[i] = out[i - 1] + x[i]
        return out


@loop(randn(7, 3))
class InplaceRows(nn.Module):
    def forward(self, x):
        out = torch.zeros_like(x)
        for i in range(x.size(0)):
            out[i] = torch.tanh(x[i]) * 2
        return out


@loop(randn(4, 9), axis=1)
class Columns(nn.Module):
    def forward(self, x):
        out = torch.zeros_like(x)
        for i in range(x.size(1)):
            out[:, i] = torch.softmax(x[:, i], 0)
        return out


@loop(randn(7, 3), torch.tensor(5))
class MaskedMeanLoop(nn.Module):
    def forward(self, x, n):
        s = torch.zeros_like(x[0])
        c = torch.zeros(1)
        for i in range(x.size(0)):
            if i < int(n):
                s = s + x[i]
                c = c + 1
        return s / torch.clamp(c, min=1)


@loop(randn(7))
class PositiveSum(nn.Module):
    def forward(self, x):
        s = torch.zeros(1)
        for i in range(x.size(0)):
            if bool(x[i] > 0):
                s = s + x[i]
        return s


@loop(randn(12))
class FramesHop(nn.Module):
    def forward(self, x):
        out: list[Tensor] = []
        n = (x.size(0) - 4) // 2 + 1
        w = torch.hann_window(4)
        for i in range(n):
            out.append(x[i * 2 : i * 2 + 4] * w)
        return torch.stack(out)


@loop(randn(6, 4))
class OverlapAdd(nn.Module):
    def forward(self, f):
        n = f.size(0)
        y = torch.zeros(n * 2 + 2)
        for i in range(n):
            y[i * 2 : i * 2 + 4] = y[i * 2 : i * 2 + 4] + f[i]
        return y


@loop(randn(8, 3))
class TwoRows(nn.Module):
    def forward(self, x):
        out: list[Tensor] = []
        for i in range(x.size(0) // 2):
            out.append(x[2 * i] - x[2 * i + 1])
        return torch.stack(out)


@loop(randn(7, 2, 3))
class LstmHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.ih = nn.Linear(3, 20)
        self.hh = nn.Linear(5, 20)

    def forward(self, x):
        h = torch.zeros(x.size(1), 5)
        c = torch.zeros(x.size(1), 5)
        out: list[Tensor] = []
        for t in range(x.size(0)):
            i, f, g, o = (self.ih(x[t]) + self.hh(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            out.append(h)
        return torch.stack(out), h


@loop(randn(7, 2, 3))
class LstmPeephole(nn.Module):
    def __init__(self):
        super().__init__()
        self.ih = nn.Linear(3, 20)
        self.hh = nn.Linear(5, 20, bias=False)
        self.p = nn.Parameter(randn(3, 5))

    def forward(self, x):
        h = torch.zeros(x.size(1), 5)
        c = torch.zeros(x.size(1), 5)
        out: list[Tensor] = []
        for t in range(x.size(0)):
            i, f, g, o = (self.ih(x[t]) + self.hh(h)).chunk(4, 1)
            i = torch.sigmoid(i + self.p[0] * c)
            f = torch.sigmoid(f + self.p[1] * c)
            c = f * c + i * torch.tanh(g)
            h = torch.sigmoid(o + self.p[2] * c) * torch.tanh(c)
            out.append(h)
        return torch.stack(out)


@loop(randn(7, 2, 3))
class GruHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.GRUCell(3, 5)

    def forward(self, x):
        h = torch.zeros(x.size(1), 5)
        out: list[Tensor] = []
        for t in range(x.size(0)):
            gi = torch.mm(x[t], self.w.weight_ih.t()) + self.w.bias_ih
            gh = torch.mm(h, self.w.weight_hh.t()) + self.w.bias_hh
            ir, iz, i_n = gi.chunk(3, 1)
            hr, hz, hn = gh.chunk(3, 1)
            r = torch.sigmoid(ir + hr)
            z = torch.sigmoid(iz + hz)
            n = torch.tanh(i_n + r * hn)
            h = n + z * (h - n)
            out.append(h)
        return torch.stack(out)


@loop(randn(7, 2, 3), torch.tensor([4, 7]), fixed=(1,))
class GruMasked(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 10)
        self.b = nn.Linear(8, 5)

    def forward(self, x, lens):
        h = torch.zeros(x.size(1), 5)
        for t in range(x.size(0)):
            rz = torch.sigmoid(self.a(torch.cat([x[t], h], 1)))
            r, z = rz.chunk(2, 1)
            n = torch.tanh(self.b(torch.cat([x[t], r * h], 1)))
            new = (1 - z) * h + z * n
            m = (t < lens).unsqueeze(1)
            h = torch.where(m, new, h)
        return h


@loop(randn(7, 2, 3))
class Indrnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(3, 5)
        self.u = nn.Parameter(randn(5))

    def forward(self, x):
        h = torch.zeros(x.size(1), 5)
        out: list[Tensor] = []
        for t in range(x.size(0)):
            h = torch.relu(self.w(x[t]) + self.u * h)
            out.append(h)
        return torch.stack(out)


@loop(randn(7, 3))
class ScanLinearState(nn.Module):
    def __init__(self):
        super().__init__()
        self.A = nn.Parameter(0.3 * randn(4, 4))
        self.B = nn.Parameter(randn(4, 3))
        self.C = nn.Parameter(randn(2, 4))

    def forward(self, u):
        x = torch.zeros(4)
        out: list[Tensor] = []
        for t in range(u.size(0)):
            x = torch.mv(self.A, x) + torch.mv(self.B, u[t])
            out.append(torch.mv(self.C, x))
        return torch.stack(out)


@loop(randn(7, 4), randn(7, 4), randn(7, 4))
class LinearAttention(nn.Module):
    def forward(self, q, k, v):
        s = torch.zeros(4, 4)
        out: list[Tensor] = []
        for t in range(q.size(0)):
            s = s + torch.outer(k[t], v[t])
            out.append(torch.mv(s.t(), q[t]))
        return torch.stack(out)


@loop(randn(7, 4), randn(7, 4), randn(7, 4), torch.rand(7, 4))
class GatedLinearAttention(nn.Module):
    def forward(self, q, k, v, g):
        s = torch.zeros(4, 4)
        out: list[Tensor] = []
        for t in range(q.size(0)):
            s = s * g[t].unsqueeze(1) + torch.outer(k[t], v[t])
            out.append(torch.mv(s.t(), q[t]))
        return torch.stack(out)


@loop(randn(7, 3), randn(3, 3), fixed=(1,))
class Viterbi(nn.Module):
    def forward(self, e, tr):
        s = e[0]
        back: list[Tensor] = []
        for t in range(1, e.size(0)):
            m, a = (s.unsqueeze(1) + tr).max(0)
            s = m + e[t]
            back.append(a)
        return s, torch.stack(back)


@loop(randn(7, 3), randn(3, 3), fixed=(1,))
class CrfForward(nn.Module):
    def forward(self, e, tr):
        s = e[0]
        for t in range(1, e.size(0)):
            s = torch.logsumexp(s.unsqueeze(1) + tr, 0) + e[t]
        return torch.logsumexp(s, 0)


@loop(randn(9))
class Iir(nn.Module):
    def forward(self, x):
        y1 = torch.zeros(1)
        y2 = torch.zeros(1)
        out: list[Tensor] = []
        for t in range(x.size(0)):
            y = 0.2 * x[t] + 1.1 * y1 - 0.3 * y2
            y2 = y1
            y1 = y
            out.append(y)
        return torch.cat(out)


@loop(randn(9).abs())
class Envelope(nn.Module):
    def forward(self, x):
        e = torch.zeros(1)
        out: list[Tensor] = []
        for t in range(x.size(0)):
            a = torch.where(x[t] > e, torch.tensor(0.5), torch.tensor(0.1))
            e = e + a * (x[t] - e)
            out.append(e)
        return torch.cat(out)


@loop(torch.randint(0, 4, (9,)))
class CtcCollapse(nn.Module):
    def forward(self, x):
        out: list[Tensor] = []
        prev = torch.tensor(-1)
        for t in range(x.size(0)):
            if bool(x[t] != prev) and bool(x[t] != 0):
                out.append(x[t].unsqueeze(0))
            prev = x[t]
        out.append(torch.tensor([0]))
        return torch.cat(out)


@loop(torch.randint(0, 4, (9,)))
class RunLength(nn.Module):
    def forward(self, x):
        n = torch.zeros(1, dtype=torch.long)
        out: list[Tensor] = []
        for t in range(x.size(0)):
            if t > 0 and bool(x[t] == x[t - 1]):
                n = n + 1
            else:
                n = torch.ones(1, dtype=torch.long)
            out.append(n)
        return torch.cat(out)


@loop(torch.randint(0, 5, (9,)))
class Histogram(nn.Module):
    def forward(self, x):
        h = torch.zeros(5)
        for t in range(x.size(0)):
            h[x[t]] = h[x[t]] + 1
        return h


@loop(randn(3, 4, 5), torch.tensor([2, 4, 3]))
class RaggedMean(nn.Module):
    def forward(self, x, n):
        out: list[Tensor] = []
        for b in range(x.size(0)):
            k = int(n[b])
            out.append(x[b, :k].mean(0))
        return torch.stack(out)


@loop(randn(1, 8, 8), torch.tensor([[0, 0, 3, 3], [2, 1, 7, 5]]), fixed=(0,))
class CropsPool(nn.Module):
    def forward(self, x, boxes):
        out: list[Tensor] = []
        for b in range(boxes.size(0)):
            c = x[:, int(boxes[b, 1]) : int(boxes[b, 3]), int(boxes[b, 0]) : int(boxes[b, 2])]
            out.append(c.amax((1, 2)))
        return torch.stack(out)


@loop(randn(6, 4), randn(6).abs())
class Nms(nn.Module):
    def forward(self, b, s):
        keep = torch.ones(b.size(0), dtype=torch.bool)
        for i in range(b.size(0)):
            d = (b - b[i]).abs().sum(1)
            later = torch.arange(b.size(0)) > i
            keep = keep & ~(keep[i] & later & (d < 2))
        return keep


@loop(randn(3, 3))
class Sinkhorn(nn.Module):
    def forward(self, x):
        for _ in range(5):
            x = x - torch.logsumexp(x, 1, keepdim=True)
            x = x - torch.logsumexp(x, 0, keepdim=True)
        return x.exp()


@loop(randn(4, 4).abs() + 1)
class NewtonSqrt(nn.Module):
    def forward(self, x):
        y = x
        for _ in range(6):
            y = 0.5 * (y + x / y)
        return y


@loop(randn(1).abs() + 5, fixed=(0,))
class HalveUntil(nn.Module):
    def forward(self, x):
        n = torch.zeros(1)
        while bool(x > 1):
            x = x / 2
            n = n + 1
        return x, n


@loop(randn(7, 3))
class CummaxPairs(nn.Module):
    def forward(self, x):
        m = x[0]
        a = torch.zeros_like(x[0]).long()
        ms: list[Tensor] = []
        as_: list[Tensor] = []
        for t in range(x.size(0)):
            up = x[t] > m
            a = torch.where(up, torch.full_like(a, t), a)
            m = torch.where(up, x[t], m)
            ms.append(m)
            as_.append(a)
        return torch.stack(ms), torch.stack(as_)


@loop(torch.randint(0, 2, (9,)).bool(), randn(9))
class SegmentSum(nn.Module):
    def forward(self, r, x):
        s = torch.zeros(1)
        out: list[Tensor] = []
        for t in range(x.size(0)):
            s = torch.where(r[t], torch.zeros(1), s) + x[t]
            out.append(s)
        return torch.cat(out)


@loop(randn(9))
class Cusum(nn.Module):
    def forward(self, x):
        p = torch.zeros(1)
        n = torch.zeros(1)
        out: list[Tensor] = []
        for t in range(x.size(0)):
            p = torch.clamp(p + x[t] - 0.1, min=0)
            n = torch.clamp(n - x[t] - 0.1, min=0)
            out.append(torch.cat([p, n]))
        return torch.stack(out)


@loop(randn(5, 3), randn(6, 3))
class DtwRows(nn.Module):
    def forward(self, a, b):
        out: list[Tensor] = []
        for i in range(a.size(0)):
            row: list[Tensor] = []
            for j in range(b.size(0)):
                row.append((a[i] - b[j]).abs().sum())
            out.append(torch.stack(row))
        return torch.stack(out)


@loop(randn(4, 3, 6, 6))
class PerSampleConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 2, 3)

    def forward(self, x):
        out: list[Tensor] = []
        for b in range(x.size(0)):
            out.append(self.c(x[b : b + 1]))
        return torch.cat(out)


@loop(randn(4, 3, 6))
class PerSampleNorm(nn.Module):
    def forward(self, x):
        out: list[Tensor] = []
        for b in range(x.size(0)):
            m = x[b].mean()
            s = x[b].std()
            out.append((x[b] - m) / (s + 1e-5))
        return torch.stack(out)


@loop(randn(3, 5), torch.randint(0, 5, (3, 4)))
class GatherLoop(nn.Module):
    def forward(self, x, i):
        out: list[Tensor] = []
        for b in range(i.size(0)):
            out.append(x[b][i[b]])
        return torch.stack(out)


@loop(randn(1, 4), torch.tensor(6), fixed=(0,))
class DecoderGreedy(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(7, 4)
        self.w = nn.Linear(8, 4)
        self.o = nn.Linear(4, 7)

    def forward(self, h, n):
        tok = torch.zeros(1, dtype=torch.long)
        out: list[Tensor] = []
        for _ in range(int(n)):
            h = torch.tanh(self.w(torch.cat([self.e(tok), h], 1)))
            tok = self.o(h).argmax(1)
            out.append(tok)
        return torch.cat(out)


@loop(randn(7, 4))
class CausalAttentionRows(nn.Module):
    def forward(self, x):
        out: list[Tensor] = []
        for t in range(x.size(0)):
            k = x[: t + 1]
            a = torch.softmax(torch.mv(k, x[t]), 0)
            out.append(torch.mv(k.t(), a))
        return torch.stack(out)


@loop(randn(7, 4))
class SlidingAttention(nn.Module):
    def forward(self, x):
        out: list[Tensor] = []
        for t in range(x.size(0)):
            lo = max(t - 2, 0)
            k = x[lo : t + 1]
            a = torch.softmax(torch.mv(k, x[t]), 0)
            out.append(torch.mv(k.t(), a))
        return torch.stack(out)


@loop(randn(9))
class DiffPrev(nn.Module):
    def forward(self, x):
        p = torch.zeros(1)
        out: list[Tensor] = []
        for i in range(x.size(0)):
            out.append(x[i] - p)
            p = x[i].unsqueeze(0)
        return torch.cat(out)


@loop(randn(6, 3), randn(6))
class WeightedSumIf(nn.Module):
    def forward(self, x, w):
        s = torch.zeros(3)
        n = torch.zeros(1)
        for i in range(x.size(0)):
            if bool(w[i] > 0.0):
                s = s + w[i] * x[i]
                n = n + w[i]
        return s / (n + 1e-6)


@loop(randn(6, 3))
class GrowingCat(nn.Module):
    def forward(self, x):
        y = torch.zeros(0, 3)
        for i in range(x.size(0)):
            y = torch.cat([y, x[i : i + 1].exp()])
        return y


@loop(randn(6, 3))
class ReverseCat(nn.Module):
    def forward(self, x):
        y = torch.zeros(0, 3)
        for i in range(x.size(0)):
            y = torch.cat([x[i : i + 1], y])
        return y


@loop(randn(6, 3))
class QueueState(nn.Module):
    def forward(self, x):
        q = torch.zeros(3, 3)
        out: list[Tensor] = []
        for i in range(x.size(0)):
            q = torch.cat([q[1:], x[i : i + 1]])
            out.append(q.mean(0))
        return torch.stack(out)


@loop(randn(6), randn(6))
class Momentum(nn.Module):
    def forward(self, g, x):
        m = torch.zeros(1)
        v = torch.zeros(1)
        p = torch.zeros(1)
        out: list[Tensor] = []
        for i in range(g.size(0)):
            m = 0.9 * m + 0.1 * g[i]
            v = 0.99 * v + 0.01 * g[i] * g[i]
            p = p - m / (v.sqrt() + 1e-8)
            out.append(p)
        return torch.cat(out)


@loop(randn(6, 3))
class BidirectionalList(nn.Module):
    def forward(self, x):
        f = torch.zeros(3)
        out: list[Tensor] = []
        for i in range(x.size(0)):
            j = x.size(0) - 1 - i
            f = 0.5 * f + x[j]
            out.append(f)
        return torch.stack(out).flip(0)


def export(case: Case, folder: Path) -> None:
    names = [f"x{number}" for number, _ in enumerate(case.arguments)]
    axes = {
        name: {case.axis: "T"}
        for number, (name, each) in enumerate(zip(names, case.arguments, strict=True))
        if each.dim() and number not in case.fixed
    }
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in case.network.__name__)
    torch.onnx.export(
        torch.jit.script(case.network().eval()),
        case.arguments,
        folder / f"{name.strip('_')}.onnx",
        dynamo=False,
        input_names=names,
        dynamic_axes=axes,
        opset_version=17,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    for case in CASES:
        export(case, folder)


if __name__ == "__main__":
    main()
