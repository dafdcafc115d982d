"""The settings of a profile in words: for each of the 22 keys its title, and for its settings what their names do not
say."""

from __future__ import annotations

import re

GROUPS = (
    ("Page", ("colorsSettings", "cardSettings", "textSettings", "backgroundSettings", "cursorSettings")),
    ("Top of the page", ("avatarSettings", "usernameSettings", "typewriterSettings", "presenceSettings")),
    ("What the page lists", ("badgesSettings", "linksSettings", "audioSettings")),
    ("Sections", ("aboutMeSettings", "skillsSettings", "projectsSettings")),
    ("Visitors", ("viewsSettings", "feedbackSettings", "commentsSettings")),
    ("Opening and title", ("enterSettings", "animationSettings", "titleSettings", "metadataSettings")),
)
TITLES = {
    "badgesSettings": "Badges",
    "linksSettings": "Links",
    "colorsSettings": "Colours",
    "cardSettings": "Card",
    "textSettings": "Text",
    "usernameSettings": "Username",
    "avatarSettings": "Picture",
    "backgroundSettings": "Background",
    "cursorSettings": "Cursor",
    "audioSettings": "Audio player",
    "enterSettings": "Before the page opens",
    "animationSettings": "Animation",
    "typewriterSettings": "Typewriter",
    "titleSettings": "Browser title",
    "metadataSettings": "Previews in messengers and search",
    "presenceSettings": "Live presence",
    "aboutMeSettings": "About me",
    "skillsSettings": "Skills",
    "projectsSettings": "Projects",
    "viewsSettings": "Views",
    "feedbackSettings": "Likes and dislikes",
    "commentsSettings": "Comments",
}
LABELS = {
    "linksSettings.enabled": "Show links",
    "usernameSettings.enabled": "Show the username",
    "avatarSettings.enabled": "Show the picture",
    "avatarSettings.mirrorChat": "Show the picture of my linked chat account",
    "audioSettings.player": "Show the player",
    "presenceSettings.enabled": "Show my presence",
    "presenceSettings.left": "Text on the left",
    "presenceSettings.right": "Text on the right",
    "aboutMeSettings.enabled": "Show sections about me",
    "skillsSettings.enabled": "Show skills",
    "viewsSettings.enabled": "Show how many people have seen the page",
    "feedbackSettings.enabled": "Show likes and dislikes",
    "commentsSettings.enabled": "Show comments",
    "typewriterSettings.enabled": "Type the descriptions out",
    "typewriterSettings.speed": "Pause between letters (ms)",
    "typewriterSettings.deleteSpeed": "Pause between letters when deleting (ms)",
    "typewriterSettings.delay": "Pause before deleting (ms)",
    "titleSettings.animated": "Move the title",
    "backgroundSettings.effectSettings": "Settings of the effect",
    "colorsSettings.gradient": "Gradient from the primary to the secondary colour",
    "colorsSettings.gradientAngle": "Angle of the gradient (degrees)",
}
_WORDS = {
    "customization": "Own look",
    "borderCustomization": "Own border",
    "color": "Colour",
    "borderWidth": "Width of the border (pixels)",
    "borderRadius": "Radius of the corners (pixels)",
    "borderOpacity": "Opacity of the border (%)",
    "opacity": "Opacity (%)",
    "glowStrength": "Strength of the glow (%)",
    "blur": "Blur (pixels)",
}
HELP = {
    "badgesSettings.monochrome": "All badges in one colour, whatever each of them says.",
    "usernameSettings.enabled": "Below the display name.",
    "avatarSettings.decoration": "The name or the address of a frame, for programs that know it.",
    "avatarSettings.mirrorChat": "It changes whenever you change it there. The picture under Media is not shown then.",
    "backgroundSettings.effect": "Told to programs; our page shows none.",
    "presenceSettings.enabled": "What you do right now, where the chat platform tells it. Off: the page hides it.",
    "metadataSettings.color": "Of the bar beside the preview, and of the browser's frame on phones.",
    "enterSettings.text": "What visitors press before they see the page, in programs that have such a door.",
}


def title_of(key: str) -> str:
    return TITLES[key]


def label_of(key: str, name: str) -> str:
    """In words: `accentColor` is "Accent colour"."""
    words = re.sub(r"([A-Z])", lambda letter: f" {letter[0].lower()}", name).replace(" color", " colour")
    return LABELS.get(f"{key}.{name}") or _WORDS.get(name) or words[:1].upper() + words[1:]


def help_of(key: str, name: str) -> str:
    return HELP.get(f"{key}.{name}", "")
