"""Texts that members write about themselves and to one another, with placeholders such as `{thing}`."""

from __future__ import annotations

from demo import vocabulary
from demo.seeded_random import SeededRandom

texts = vocabulary.load("sentences")


def filled(rng: SeededRandom, template: str) -> str:
    """Replace the placeholders of a template."""
    if "{" not in template:
        return template
    thing, other = rng.some(texts.THINGS, 2, 2)
    text = template.format(thing=thing, other=other, craft=rng.choice(texts.CRAFTS))
    return text[0].upper() + text[1:]


def description(rng: SeededRandom) -> str:
    return filled(rng, rng.choice(texts.DESCRIPTIONS))


def about(rng: SeededRandom) -> str:
    return "\n\n".join(filled(rng, template) for template in rng.some(texts.ABOUT, 2, 5))


def comment(rng: SeededRandom) -> str:
    opening: str = rng.choice(texts.OPENINGS)
    remark: str = rng.choice(texts.REMARKS).replace("{thing}", rng.choice(texts.THINGS))
    if not opening.endswith((", ", ": ")):
        remark = remark[0].upper() + remark[1:]
    return f"{opening}{remark}{rng.choice(texts.CLOSINGS)}"
