"""What a profile lists: /dashboard/profile/…."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter

from dashboard.views.profile_content import aliases, lists, sections
from dashboard.views.profile_content.kinds import KINDS


class RowIdConverter(StringConverter):
    """Of a row of a list."""

    regex = "[0-9a-f]{32}"


class AliasNameConverter(StringConverter):
    """What may be a name at all."""

    regex = "[A-Za-z0-9._-]{1,32}"


register_converter(RowIdConverter, "row_id")
register_converter(AliasNameConverter, "alias_name")


def _pages_of(kind: str) -> list[URLPattern]:
    """The pages of one list."""
    add = sections.choose_type if kind == "sections" else lists.add
    pages = (
        ("", lists.show, ""),
        ("add/", add, "_add"),
        ("order/", lists.reorder, "_order"),
        ("<row_id:pk>/", lists.edit, "_row"),
        ("<row_id:pk>/move/", lists.move, "_move"),
        ("<row_id:pk>/switch/", lists.switch, "_switch"),
        ("<row_id:pk>/delete/", lists.delete, "_delete"),
    )
    return [path(f"{kind}/{where}", view, {"kind": kind}, name=f"profile_{kind}{page}") for where, view, page in pages]


_of_sections = {"kind": "sections"}
urlpatterns = [
    path("sections/add/<str:type>/", sections.add_of_type, _of_sections, name="profile_sections_add_type"),
    path("sections/<row_id:pk>/entries/", sections.entries, _of_sections, name="profile_section_entries"),
    path(
        "sections/<row_id:pk>/entries/<str:act>/",
        sections.change_entries,
        _of_sections,
        name="profile_section_entries_act",
    ),
    *(page for kind in KINDS for page in _pages_of(kind)),
    path("aliases/", aliases.show, name="profile_aliases"),
    path("aliases/add/", aliases.add, name="profile_aliases_add"),
    path("aliases/named/<alias_name:name>/", aliases.change, name="profile_alias_change"),
    path("aliases/named/<alias_name:name>/delete/", aliases.remove, name="profile_alias_remove"),
]
