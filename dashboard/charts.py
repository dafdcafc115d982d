"""Bar charts as SVG drawings; a table next to each has its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 720, 220
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 12, 26
_STEPS = (1, 2, 5)


@dataclass(frozen=True)
class Bar:
    """`series`: the number of its colour. Lengths in units of the drawing."""

    x: float
    y: float
    width: float
    height: float
    series: int


@dataclass(frozen=True)
class Mark:
    """A label at a place of an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class Chart:
    bars: list[Bar]
    lines: list[Mark]
    labels: list[Mark]
    names: list[str]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT

    @property
    def paths(self) -> list[str]:
        """Return all bars of each series as one path: a page with a hundred of them stays light."""
        return [
            "".join(
                f"M{bar.x} {bar.y}h{bar.width}v{bar.height}h-{bar.width}z" for bar in self.bars if bar.series == number
            )
            for number in range(len(self.names))
        ]

    @property
    def right(self) -> int:
        return self.width - RIGHT

    @property
    def tick_x(self) -> int:
        """Return where the labels of the upright axis end."""
        return self.left - 6

    @property
    def label_y(self) -> int:
        return self.height - 6


def stacked(series: Mapping[str, Sequence[int]], labels: Sequence[str], *, label_every: int) -> Chart:
    """Return a chart with stacked series, a bar for each label. Every series is as long as `labels`."""
    sums = [sum(values) for values in zip(*series.values(), strict=True)]
    ticks = ticks_for(max(sums, default=0))
    scale = (HEIGHT - TOP - BOTTOM) / ticks[-1]
    slot = (WIDTH - LEFT - RIGHT) / max(len(labels), 1)
    bars = []
    for column in range(len(labels)):
        foot = float(HEIGHT - BOTTOM)
        for number, values in enumerate(series.values()):
            height = values[column] * scale
            foot -= height
            if height:
                x = LEFT + column * slot + slot * 0.12
                bars.append(Bar(round(x, 1), round(foot, 1), round(slot * 0.76, 1), round(height, 1), number))
    return Chart(
        bars,
        [Mark(round(HEIGHT - BOTTOM - tick * scale, 1), f"{tick:,}") for tick in ticks],
        [
            Mark(round(LEFT + (column + 0.5) * slot, 1), text)
            for column, text in enumerate(labels)
            if column % label_every == 0
        ],
        list(series),
    )


def ticks_for(highest: int) -> list[int]:
    """Return round numbers from 0 to at least `highest`: at most six, at least two."""
    size = 1
    while True:
        for factor in _STEPS:
            step = factor * size
            if step * 5 >= highest:
                top = max(-(-highest // step), 1)
                return [number * step for number in range(top + 1)]
        size *= 10
