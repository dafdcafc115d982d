"""The profile editor: fields, settings, files, lists, sections, aliases, privacy, export and import."""
