"""Texts, links and tags of before the rules lose what these refuse; the documents that show them are rendered anew."""

import re

from django.db import migrations
from django.db.models import TextField
from django.db.models.functions import Cast

_OVERRIDES = "\u202a-\u202e\u2066-\u2069"
LINE = f"[\x01-\x1f\x7f-\x9f{_OVERRIDES}]"
TEXT = f"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_OVERRIDES}]|\r(?!\n)"
IN_JSON = rf"\\u(00|20)|[\x7f-\x9f{_OVERRIDES}]"  # SQLite has escapes where PostgreSQL has characters
USER_INFO = "^(https?://)[^/?#]*@"
LONG = {"description", "content"}
LEFT = {"iconSvg", "musicId"}  # code, and a key of the catalogue
COLUMNS = {
    "Asset": ["mime"],
    "Badge": ["name"],
    "BadgeTier": ["title", "description"],
    "CustomBadge": ["name"],
    "Widget": ["platform", "type", "identifier"],
    "Audio": ["title", "artist", "external_url"],
    "Background": ["title"],
    "Link": ["title", "url", "platform_id", "platform_type"],
    "Project": ["title", "description", "url"],
    "Profile": [
        *("name", "display_name", "description", "location", "theme", "font", "font_username"),
        *("sound_effect", "sound_effect_button"),
    ],
    "Section": ["title", "description"],
    "GalleryItem": ["caption"],
    "Game": ["name", "image", "slug"],
    "Anime": ["title", "image", "format"],
    "MediaTitle": ["media_type", "title", "image"],
    "MusicItem": ["title", "image", "artist", "album"],
    "Comment": ["content"],
}
JSON = {"Profile": "settings", "Section": "config"}


def cleaned(text, name):
    if name in LONG:
        return re.sub(TEXT, "", text)
    return re.sub(LINE, "", re.sub(r"[\t\r\n]+", " ", text))


def cleaned_json(value, name=""):
    if isinstance(value, dict):
        return {key: entry if key in LEFT else cleaned_json(entry, key) for key, entry in value.items()}
    if isinstance(value, list):
        return [cleaned_json(entry) for entry in value]
    return cleaned(value, name) if isinstance(value, str) else value


def clean(apps, schema_editor):
    changed = []
    for name, columns in COLUMNS.items():
        rows = apps.get_model("lookup", name)._default_manager.all()
        for column in columns:
            is_long = column in LONG and name != "BadgeTier"
            for row in list(rows.filter(**{f"{column}__regex": TEXT if is_long else LINE})):
                changed += _write(row, column, cleaned(getattr(row, column), column if is_long else ""))
    for name, column in (("Link", "url"), ("Project", "url"), ("Audio", "external_url")):
        rows = apps.get_model("lookup", name)._default_manager.filter(**{f"{column}__iregex": USER_INFO})
        for row in list(rows.exclude(is_text=True) if name == "Link" else rows):
            changed += _write(row, column, re.sub(USER_INFO, r"\1", getattr(row, column), flags=re.IGNORECASE))
    for name, column in JSON.items():
        rows = apps.get_model("lookup", name)._default_manager.annotate(text=Cast(column, TextField()))
        for row in list(rows.filter(text__regex=IN_JSON)):
            changed += _write(row, column, cleaned_json(getattr(row, column)))
    changed += clean_tags(apps.get_model("lookup", "Project")._default_manager)
    mark_stale(apps, changed)


def clean_tags(projects):
    """At most 20 of 40 characters each, as forms allow them."""
    kept = {
        pk: [tag for one in tags[:20] if (tag := cleaned(str(one), "")[:40])]
        for pk, tags in projects.exclude(tags=[]).values_list("pk", "tags").iterator()
        if len(tags) > 20 or any(not 0 < len(str(tag)) <= 40 or re.search(LINE, str(tag)) for tag in tags)
    }
    return [row for pk, tags in kept.items() for row in _write(projects.get(pk=pk), "tags", tags)]


def _write(row, column, value):
    """The row, in a list, where this changes it."""
    if getattr(row, column) == value:
        return []
    setattr(row, column, value)
    row.save(update_fields=[column])
    return [row]


def mark_stale(apps, changed):
    documents = apps.get_model("lookup", "ProfileDocument")._default_manager
    shared = {"Asset", "Badge", "BadgeTier", "Game", "Anime", "MediaTitle", "MusicItem"}
    if len(changed) > 1000 or any(type(row).__name__ in shared for row in changed):
        documents.update(fingerprint="")
        return
    ids = {getattr(row, "profile_id", row.pk) for row in changed}
    documents.filter(profile__in=ids).update(fingerprint="")


class Migration(migrations.Migration):
    dependencies = [("lookup", "0006_plain_texts"), ("accounts", "0006_plain_names")]

    operations = [migrations.RunPython(clean, migrations.RunPython.noop)]
