"""The profile editor: fields, settings, files, lists, sections, aliases, visitors, privacy, export and import."""

import tomllib
from pathlib import Path
from typing import Any

from dashboard.navigation import Entry

# Any: tables of texts and of lists of texts, as the file has them.
WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
NAVIGATION = (Entry("profile_editor", "Profile"),)
# Pages that are no lists. A list has its name and title from `kinds`.
PAGES = {
    "profile_editor": Entry("profile_editor", "Profile", below=None),
    "profile_aliases": Entry("profile_aliases", "Aliases"),
    "profile_theme": Entry("profile_theme", "Theme"),
    "profile_appearance": Entry("profile_appearance", "Details"),
    "profile_media": Entry("profile_media", "Media"),
    "profile_privacy": Entry("profile_privacy", "Privacy"),
    "profile_transfer": Entry("profile_transfer", "Export and import"),
    "profile_visitors": Entry("profile_visitors", "Visitors"),
}
CONTENT = "Content"
# The menu: what each group holds, pages and lists by their names. A list that is not named here is in CONTENT.
GROUPS = {
    "Profile": ["profile_editor", "badges", "profile_aliases", "profile_visitors"],
    "Appearance": ["profile_theme", "profile_appearance", "backgrounds"],
    "Links and media": ["links", "profile_media", "audios"],
    CONTENT: ["sections", "projects", "gallery", "widgets"],
    "Privacy and data": ["profile_privacy", "profile_transfer"],
}
# These only the main profile has.
OF_THE_USER = {"profile_aliases", "profile_privacy", "profile_transfer"}
