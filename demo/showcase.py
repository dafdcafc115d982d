"""What stands on the profile of the demo user ada: something in every field there is. Plain data."""

from __future__ import annotations

from typing import Any

from demo.population import catalogue_data
from lookup.sections import SectionType

Json = dict[str, Any]  # Any: a JSON value

FONT = "demo-fonts/pixel.woff"
PINE, EMBER, INK, PAPER, GOLD = "#2c8a6c", "#cf5a2b", "#10201a", "#f2f5f3", "#c99526"
HEART = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M12 21s-8-5.3-8-11a4.5 4.5 0 0 1 8-2.8A4.5 '
    '4.5 0 0 1 20 10c0 5.7-8 11-8 11z"/></svg>'
)
HOUSE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M12 2 2 9v13h7v-7h6v7h7V9z"/></svg>'

DESCRIPTION = "I write small programs, draw maps of places that do not exist, and keep the kettle on."
TEXTS = {
    "display_name": "Ada Example",
    "description": DESCRIPTION,
    "location": "by the harbour",
    "theme": "forest",
    "font": "serif",
    "font_username": "slab",
    "sound_effect": "chime",
    "sound_effect_button": "wood",
}
PROFILE_PICTURES = {
    "avatar": "avatar-1",
    "banner": "banner-1",
    "cursor": "cursor",
    "cursor_pointer": "cursor",
    "metadata_favicon": "favicon",
    "metadata_banner": "card-2",
}


def _part(color: str) -> Json:
    """The look of one part of the page."""
    return {
        "customization": True,
        "accentColor": color,
        "opacity": 85,
        "borderCustomization": True,
        "borderColor": color,
        "borderWidth": 2,
        "borderRadius": 20,
        "borderOpacity": 60,
    }


SETTINGS: Json = {
    "badgesSettings": {"color": GOLD, "glow": True, "glowStrength": 35, "border": True, "scroll": True},
    "linksSettings": {"glow": True, "glowStrength": 30},
    "colorsSettings": {
        "accentColor": PINE,
        "textColor": PAPER,
        "backgroundColor": INK,
        "iconColor": PINE,
        "primaryColor": PINE,
        "secondaryColor": "#143d30",
        "gradient": True,
        "gradientAngle": 135,
    },
    "cardSettings": {
        "blur": 12,
        "opacity": 80,
        "border": True,
        "borderColor": PINE,
        "borderWidth": 2,
        "borderRadius": 24,
        "borderOpacity": 70,
        "parallax": True,
    },
    "textSettings": {"glowStrength": 15},
    "usernameSettings": {"effect": "glow"},
    "avatarSettings": {"decoration": "laurel"},
    "backgroundSettings": {"effect": "fireflies", "effectSettings": {"speed": 3, "density": 40, "color": GOLD}},
    "cursorSettings": {"effectEnabled": True, "effect": "sparkle", "effectColor": GOLD},
    "audioSettings": {"shuffle": True},
    "enterSettings": {"text": "Come in, the kettle is on", "animation": "reveal"},
    "animationSettings": {"type": "fade"},
    "typewriterSettings": {
        "enabled": True,
        "descriptions": ["Small programs.", "Maps of nowhere.", "Tea at four."],
        "speed": 90,
        "deleteSpeed": 40,
        "delay": 1800,
    },
    "titleSettings": {"animated": True, "type": "scroll"},
    "metadataSettings": {"title": "Ada Example", "description": DESCRIPTION, "color": PINE},
    "presenceSettings": {"left": "Right now", "right": "Come and say hello", **_part(PINE)},
    "aboutMeSettings": {"textColor": PAPER, **_part(PINE)},
    "skillsSettings": {"textColor": PAPER, **_part(GOLD)},
    "projectsSettings": {
        "mode": "grid",
        "title": "Workshop",
        "description": "Finished, nearly finished, and not even begun.",
        "textColor": PAPER,
        **_part(EMBER),
    },
}

# Title, URL or text, platform, colour; the icon: a picture, a drawing, or none.
LINKS: tuple[Json, ...] = (
    {"title": "Website", "url": "https://ada.example/", "platform_id": "website", "color": PINE, "icon_svg": HOUSE},
    {"title": "Workshop", "url": "https://workshop.example/ada", "icon": "link-1"},
    {"title": "Community", "url": "https://chat.example/harbour", "platform_id": "chatServer", "color": EMBER},
    {"title": "Follow me", "url": "https://social.example/@ada", "platform_id": "social", "recolor": True},
    {"title": "Play with me", "url": "ada#1843", "platform_id": "game", "is_text": True},
    {"title": "Write to me", "url": "https://messages.example/ada", "platform_id": "messaging"},
    {"title": "Statistics", "url": "https://stats.example/ada", "platform_id": "stats"},
    {"title": "Old blog", "url": "https://old.ada.example/", "is_active": False},
)
WIDGETS = (("scrobbler", "recent", "ada-listens"), ("code", "activity", "ada"), ("clock", "local", "UTC+1"))
# Title, artist, sound, cover, and whether visitors see it.
AUDIOS = (
    ("Slow Train North", "Velvet Ferry", "tone-1", "cover-1", True),
    ("Small Hours", "Mina Harrow", "tone-2", "cover-4", True),
    ("Kettle, first take", "Ada Example", "click", "cover-2", True),
    ("Kettle, outtake", "Ada Example", "click", "cover-2", False),
)
BACKGROUNDS = (("The bay at dawn", "background-1"), ("Pines", "background-3"), ("The tide", "film-1"))
PROJECTS: tuple[Json, ...] = (
    {
        "title": "Engine notes",
        "description": "Programs for a machine made of brass, explained step by step.",
        "url": "https://projects.example/ada/engine",
        "tags": ["writing", "mathematics"],
        "icon": "project-1",
    },
    {
        "title": "Harbour map",
        "description": "A town that grows by one street each week.",
        "url": "https://projects.example/ada/harbour",
        "tags": ["maps", "generative"],
        "icon": "project-4",
    },
    {
        "title": "Kettle timer",
        "description": "It whistles when the compiler is done.",
        "url": "https://projects.example/ada/kettle",
        "tags": ["hardware"],
    },
)
PICTURES = (
    ("gallery-1", "First light", "full"),
    ("gallery-2", "The way home", "half"),
    ("gallery-5", "Low tide", "quad"),
    ("film-1", "The tide comes in", "full"),
)
LOOSE_PICTURE = ("gallery-7", "Found in a drawer", "half")
SKILLS: Json = {
    "frontend": ["HTML", "CSS", "Canvas"],
    "backend": ["Python", "Rust"],
    "database": ["SQL"],
    "core": ["Algorithms", "Number theory"],
    "game": ["Puzzle design"],
    "tools": ["Version control"],
    "cloud": ["Queues"],
    "mobile": ["Accessibility"],
    "design": ["Cartography", "Typography"],
    "music": ["Piano"],
    "custom": [{"label": "Making tea", "iconName": "cup", "iconSvg": HEART}],
}
ABOUT = (
    "Hello, and welcome to my corner.\n\nI like problems that fit on a postcard and answers that fill a notebook. By "
    "day I write software for people who would rather be outside; in the evening I draw maps of towns that nobody has "
    "visited yet.\n\nLeave a comment if you like what you see. I read all of them, usually with tea."
)
NOW = "This month: a new district for the harbour map, and fewer open tabs.\n\nReading: anything with a fold-out map."
# Title, description, alignment.
SECTIONS = {
    SectionType.ABOUT_ME: ("About me", "A short introduction", "left"),
    SectionType.PROJECTS: ("Workshop", "Finished, nearly finished, not begun", "left"),
    SectionType.CUSTOM_TEXT: ("Now", "What keeps me busy", "center"),
    SectionType.GALLERY: ("Sketchbook", "From walks along the bay", "center"),
    SectionType.AUDIO_PLAYER: ("On repeat", "Music for drawing", "right"),
    SectionType.GAMES: ("What I play", "Mostly slow ones", "left"),
    SectionType.ANIME: ("Watched twice", "Some of them three times", "left"),
    SectionType.MEDIA: ("On the screen", "Films and series for rainy evenings", "left"),
    SectionType.MUSIC: ("Records", "Tracks, albums and the people behind them", "left"),
}


def section_configs(widget_ids: list[str], project_ids: list[str]) -> dict[SectionType, Json]:
    return {
        SectionType.ABOUT_ME: {
            "content": ABOUT,
            "widgetIds": widget_ids,
            "skills": SKILLS,
            "skillsEnabled": True,
            "skillsAlignment": "center",
        },
        SectionType.PROJECTS: {"projectIds": project_ids},
        SectionType.CUSTOM_TEXT: {"content": NOW},
        SectionType.GAMES: {"gameIds": list(catalogue_data.GAME_IDS)},
        SectionType.ANIME: {"animeIds": list(catalogue_data.ANIME_IDS)},
        SectionType.MEDIA: {"mediaIds": list(catalogue_data.MEDIA_IDS)},
        SectionType.MUSIC: {"music": [{"kind": kind, "musicId": key} for kind, key in catalogue_data.MUSIC_KEYS]},
    }


# Badges that staff gave, and how many of their tiers; those that counters unlock come by themselves.
GIVEN_BADGES = (("developer", 0), ("early-member", 0), ("booster", 3), ("level", 4), ("season", 2), ("event", 3))

REDIRECTING_ALIAS, OWN_ALIAS = "ada.example", "ada-maps"
MAPS_TEXTS = {
    "display_name": "Ada draws maps",
    "description": "Towns, islands and one underground railway. None of them exist.",
    "location": "off the edge of the sheet",
    "theme": "paper",
    "font": "handwriting",
}
MAPS_SETTINGS: Json = {
    "colorsSettings": {"accentColor": EMBER, "backgroundColor": "#fff4ec", "textColor": "#221510"},
    "cardSettings": {"borderRadius": 4},
}
VIEWS = 12_482
# Who writes: a demo user, or the number of a member of the population. Then the comment, who likes it, and replies.
COMMENTS: tuple[tuple[str | int, str, int, tuple[tuple[str | int, str], ...]], ...] = (
    (
        "cleo",
        "The harbour map hangs above my desk now. Everybody who visits asks which town it is.",
        9,
        (("ada", "Tell them it is two stops after the end of the line."), ("ben", "I have been there. Good bread.")),
    ),
    (
        "ben",
        "You were right about the kettle timer. My builds feel shorter.",
        4,
        (("ada", "That is the whole trick."),),
    ),
    (1, "Your engine notes finally made recursion click for me. Thank you!", 6, (("ada", "That makes my week."),)),
    (4, "How did you draw the coastline on the second picture?", 2, (("ada", "One wave at a time, and a ruler."),)),
    (7, "Such a calm page. I stay for the music every time.", 3, ()),
    (12, "Count me in for the next map evening 🗺️", 1, ()),
    (18, "Greetings from the other side of the bay.", 0, ()),
    (23, "The fireflies are a lovely touch ✨", 2, ()),
    (29, "Which pen do you use for the street names?", 0, (("cleo", "I would like to know, too."),)),
    (35, "Just found you through the boards. This is wonderful.", 1, ()),
)
LIKED_BY, DISLIKED_BY = 26, 2  # members of the population, beside ben and cleo
# Of the chat accounts of the demo users, by their ids there.
CHAT_PICTURES = {"268473310986240001": "avatar-2", "268473310986240003": "avatar-9"}
CLEO_TEXTS = {
    "description": "Sound designer. Two cats, one synth, no plan.",
    "location": "the third floor",
    "theme": "dawn",
}
CLEO_ABOUT = {"content": "I record rooms when nobody is in them.", "skillsEnabled": False}
# Together with the keeper's, every switch that is on by default is off somewhere, and the other way about.
CLEO_SETTINGS: Json = {
    "avatarSettings": {"mirrorChat": True},
    "linksSettings": {"monochrome": True},
    "audioSettings": {"player": False, "volumeControl": False},
    "presenceSettings": dict.fromkeys(("status", "decoration", "clan", "badges", "image", "details"), False),
    "commentsSettings": {"enabled": False},
}
KEEPER_TEXTS = {"description": "Keeps the lights on."}
KEEPER_SETTINGS: Json = {
    name: {"enabled": False}
    for name in (
        *("avatarSettings", "usernameSettings", "linksSettings", "presenceSettings", "aboutMeSettings"),
        *("skillsSettings", "viewsSettings", "feedbackSettings"),
    )
}
