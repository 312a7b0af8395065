"""Device time of two kernels, by CUPTI through torch's profiler: alternating, each with a cold L2 cache."""

from __future__ import annotations

import math
import random
import statistics
from typing import TYPE_CHECKING

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FLUSH_BYTES = 256 << 20
WARM_UP = 5
RESAMPLES = 2000


class HarnessError(RuntimeError):
    """The measurement itself is at fault: its numbers mean nothing."""


def pairs(
    ours: Callable[[], object], reference: Callable[[], object], names: tuple[str, str], count: int
) -> list[tuple[float, float]]:
    """Microseconds of both kernels, `count` times. `names`: how their kernels are called.

    Raises HarnessError when another number of kernels ran under these names, or when a time is zero.
    """
    flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
    for _ in range(WARM_UP):
        ours()
        reference()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiler:
        for number in range(count):
            for side in (ours, reference) if number % 2 else (reference, ours):
                flush.fill_(number)
                side()
        torch.cuda.synchronize()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for event in profiler.events():
        if event.device_type == DeviceType.CUDA and event.name in found:
            found[event.name].append((event.time_range.start, event.time_range.elapsed_us()))
    times = [[elapsed for _, elapsed in sorted(found[name])] for name in names]
    for name, measured in zip(names, times, strict=True):
        if len(measured) != count:
            seen = sorted({event.name for event in profiler.events() if event.device_type == DeviceType.CUDA})
            raise HarnessError(f"{name}: {len(measured)} launches seen, not {count}; kernels seen: {seen}")
        if min(measured) <= 0:
            raise HarnessError(f"{name}: a launch took no time")
    return list(zip(*times, strict=True))


def speed(measured: Sequence[tuple[float, float]]) -> float:
    """The median of the pairs' quotients: above 1, ours is the faster."""
    return statistics.median(reference / ours for ours, reference in measured)


def geometric_mean(numbers: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, numbers)))


def interval(configurations: Sequence[Sequence[tuple[float, float]]], seed: int = 0) -> tuple[float, float]:
    """95% of the geometric mean of the configurations' speeds, by resampling the pairs of each."""
    chance = random.Random(seed)
    means = sorted(
        geometric_mean([speed(chance.choices(measured, k=len(measured))) for measured in configurations])
        for _ in range(RESAMPLES)
    )
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]
