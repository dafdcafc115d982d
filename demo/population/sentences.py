"""What members write about themselves and to one another. `{thing}` and the like are filled in by `filled`."""

from __future__ import annotations

from demo import vocabulary
from demo.seeded_random import SeededRandom

_texts = vocabulary.lists("sentences")

THINGS = _texts["THINGS"]
CRAFTS = _texts["CRAFTS"]
DESCRIPTIONS = _texts["DESCRIPTIONS"]
ABOUT = _texts["ABOUT"]
TITLES = _texts["TITLES"]
NOTES_TITLES = _texts["NOTES_TITLES"]
NOTES = _texts["NOTES"]
OPENINGS = _texts["OPENINGS"]
REMARKS = _texts["REMARKS"]
CLOSINGS = _texts["CLOSINGS"]
REPLIES = _texts["REPLIES"]
CAPTIONS = _texts["CAPTIONS"]
SONGS = _texts["SONGS"]
ARTISTS = _texts["ARTISTS"]
LINK_TITLES = (
    ("Website", "website"),
    ("Blog", "blog"),
    ("Portfolio", "portfolio"),
    ("Code", "code"),
    ("Shop", "shop"),
    ("Photos", "photos"),
    ("Music", "music"),
    ("Community", "chatServer"),
    ("Newsletter", "newsletter"),
    ("Follow me", "social"),
    ("Play with me", "game"),
    ("Write to me", "messaging"),
    ("My statistics", "stats"),
)
PROJECTS = (
    ("Lantern Atlas", "A map of every street lamp in my town, drawn by hand.", ("maps", "drawing")),
    ("Tidebook", "Tide tables as a tiny printable book.", ("print", "python")),
    ("Quiet Hours", "A timer that dims the room instead of ringing.", ("hardware", "sound")),
    ("Mosswork", "Growing patterns, on the screen and on the wall.", ("generative", "web")),
    ("Letterbox", "A shared mailbox for people who live together.", ("web", "open source")),
    ("Night Bus", "A short game about the last bus of the day.", ("game", "pixel art")),
    ("Fieldnotes", "Notes that remember where they were written.", ("mobile", "maps")),
    ("Loom", "A sequencer that thinks in weaving patterns.", ("music", "web")),
    ("Seed Library", "Who has which seeds, and who would like some.", ("community", "database")),
    ("Slow Feed", "One post a day, chosen by a friend.", ("web", "design")),
)


def filled(rng: SeededRandom, template: str) -> str:
    if "{" not in template:
        return template
    thing, other = rng.some(THINGS, 2, 2)
    text = template.format(thing=thing, other=other, craft=rng.choice(CRAFTS))
    return text[0].upper() + text[1:]


def description(rng: SeededRandom) -> str:
    return filled(rng, rng.choice(DESCRIPTIONS))


def about(rng: SeededRandom) -> str:
    return "\n\n".join(filled(rng, template) for template in rng.some(ABOUT, 2, 5))


def comment(rng: SeededRandom) -> str:
    opening = rng.choice(OPENINGS)
    remark = rng.choice(REMARKS).replace("{thing}", rng.choice(THINGS))
    if not opening.endswith((", ", ": ")):
        remark = remark[0].upper() + remark[1:]
    return opening + remark + rng.choice(CLOSINGS)
