"""The profile editor: fields, settings, files, lists, sections, aliases, privacy, export and import."""

from dashboard.navigation import Entry

NAVIGATION = (Entry("profile_editor", "Profile"),)
# The lists of `kinds` have their tabs between these.
TABS = (
    Entry("profile_editor", "Profile", below=None),
    Entry("profile_appearance", "Appearance"),
    Entry("profile_media", "Media"),
)
TABS_OF_THE_USER = (
    Entry("profile_aliases", "Aliases"),
    Entry("profile_privacy", "Privacy"),
    Entry("profile_transfer", "Export and import"),
)
