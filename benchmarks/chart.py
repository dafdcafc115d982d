"""Bar charts as SVG, by hand: a dozen rectangles need no library."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

WIDTH, LABEL, LINE, BAR = 760, 330, 24, 16
OURS, PEER = "#2c8a6c", "#7b8b93"
Bar = tuple[str, float, bool]  # label, value, whether it is ours


def bars(title: str, rows: Sequence[Bar]) -> str:
    """Horizontal bars, one a row, as long as their values."""
    longest = max((value for _, value, _ in rows), default=0) or 1
    height = 44 + LINE * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="22" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for number, (label, value, is_ours) in enumerate(rows):
        top = 36 + LINE * number
        length = (WIDTH - LABEL - 80) * value / longest
        parts += [
            f'<text x="{LABEL - 8}" y="{top + 12}" text-anchor="end">{escape(label)}</text>',
            f'<rect x="{LABEL}" y="{top}" width="{length:.1f}" height="{BAR}" fill="{OURS if is_ours else PEER}"/>',
            f'<text x="{LABEL + length + 6:.1f}" y="{top + 12}">{value:,.0f}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])
