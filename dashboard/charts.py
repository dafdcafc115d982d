"""Bar charts as SVG drawings; a table next to each has its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

WIDTH, HEIGHT = 720, 220
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 12, 26


@dataclass(frozen=True)
class Mark:
    """A label at a place of an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class Chart:
    """`paths`: all bars of each series as one path, so that a page with a hundred of them stays light. Lengths in units
    of the drawing; `tick_x`: where the labels of the upright axis end."""

    paths: list[str]
    lines: list[Mark]
    labels: list[Mark]
    names: list[str]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    tick_x: int = LEFT - 6
    label_y: int = HEIGHT - 6


def stacked(series: Mapping[str, Sequence[int]], labels: Sequence[str], *, label_every: int) -> Chart:
    """Return a chart with stacked series, a bar for each label. Every series is as long as `labels`."""
    ticks = ticks_for(max(map(sum, zip(*series.values(), strict=True)), default=0))
    scale = (HEIGHT - TOP - BOTTOM) / ticks[-1]
    slot = (WIDTH - LEFT - RIGHT) / max(len(labels), 1)
    paths, feet = [], [float(HEIGHT - BOTTOM)] * len(labels)
    for values in series.values():
        bars = []
        for column, height in enumerate(value * scale for value in values):
            feet[column] -= height
            if height:
                x, y, width = (
                    round(length, 1) for length in (LEFT + column * slot + slot * 0.12, feet[column], slot * 0.76)
                )
                bars.append(f"M{x} {y}h{width}v{round(height, 1)}h-{width}z")
        paths.append("".join(bars))
    lines = [Mark(round(HEIGHT - BOTTOM - tick * scale, 1), f"{tick:,}") for tick in ticks]
    named = [
        Mark(round(LEFT + (column + 0.5) * slot, 1), labels[column]) for column in range(0, len(labels), label_every)
    ]
    return Chart(paths, lines, named, list(series))


def by_day(series: Mapping[str, Sequence[int]], days: Sequence[date]) -> Chart:
    """Return a chart with a bar for each of at least six days. Every series is as long as `days`."""
    return stacked(series, [f"{day:%-d %b}" for day in days], label_every=len(days) // 6)


def ticks_for(highest: int) -> list[int]:
    """Return round numbers from 0 to at least `highest`: at most six, at least two."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            step = factor * size
            if step * 5 >= highest:
                top = max(-(-highest // step), 1)
                return [number * step for number in range(top + 1)]
        size *= 10
