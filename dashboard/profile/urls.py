"""The profile editor: /dashboard/profile/…."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter

from accounts.models.names import NAME_REGEX
from dashboard.profile import content_views, views, visitors
from dashboard.profile.kinds import KINDS


class RowIdConverter(StringConverter):
    """The id of a row of a list, or of an alias's profile."""

    regex = "[0-9a-f]{32}"


class AliasNameConverter(StringConverter):
    """A string that may be a name."""

    regex = NAME_REGEX


register_converter(RowIdConverter, "row_id")
register_converter(AliasNameConverter, "alias_name")


def _pages_of(kind: str) -> list[URLPattern]:
    is_sections = kind == "sections"
    pages = (
        ("", content_views.show, ""),
        ("add/", content_views.choose_type if is_sections else content_views.add, "_add"),
        (f"add/{'<str:type>/' if is_sections else ''}preview/", content_views.preview, "_preview"),
        ("order/", content_views.reorder, "_order"),
        ("restore/", content_views.restore, "_restore"),
        ("<row_id:pk>/", content_views.edit, "_row"),
        ("<row_id:pk>/preview/", content_views.preview, "_row_preview"),
        ("<row_id:pk>/move/", content_views.move, "_move"),
        ("<row_id:pk>/switch/", content_views.switch, "_switch"),
        ("<row_id:pk>/delete/", content_views.delete, "_delete"),
    )
    return [path(f"{kind}/{where}", view, {"kind": kind}, name=f"profile_{kind}{page}") for where, view, page in pages]


_of_sections = {"kind": "sections"}
urlpatterns = [
    path("", views.edit, {"page": "profile_editor"}, name="profile_editor"),
    path("preview/", views.preview, {"page": "profile_editor"}, name="profile_preview"),
    path("preview/saved/", views.preview_saved, name="profile_preview_saved"),
    path("theme/", views.edit, {"page": "profile_theme"}, name="profile_theme"),
    path("theme/preview/", views.preview, {"page": "profile_theme"}, name="profile_theme_preview"),
    path("appearance/", views.edit, {"page": "profile_appearance"}, name="profile_appearance"),
    path("appearance/preview/", views.preview, {"page": "profile_appearance"}, name="profile_appearance_preview"),
    path("appearance/<slug:key>/reset/", views.reset_appearance, name="profile_appearance_reset"),
    path("media/", views.media, name="profile_media"),
    path("media/mirror/", views.mirror_chat, name="profile_media_mirror"),
    path("media/<slug:place>/", views.upload_file, name="profile_media_upload"),
    path("media/<slug:place>/remove/", views.remove_file, name="profile_media_remove"),
    path("visitors/", visitors.show, name="profile_visitors"),
    path("visitors/visitors.csv", visitors.download, name="profile_visitors_csv"),
    path("privacy/", views.privacy, name="profile_privacy"),
    path("transfer/", views.transfer, name="profile_transfer"),
    path("transfer/export/", views.export, name="profile_export"),
    path("transfer/check/", views.check_import, name="profile_import_check"),
    path("transfer/import/", views.restore_import, name="profile_import"),
    path("transfer/links/check/", views.check_links, name="profile_links_check"),
    path("transfer/links/add/", views.add_links, name="profile_links_import"),
    path("sections/add/<str:type>/", content_views.add, _of_sections, name="profile_sections_add_type"),
    path("sections/<row_id:pk>/entries/", content_views.entries, _of_sections, name="profile_section_entries"),
    path(
        "sections/<row_id:pk>/entries/<str:act>/",
        content_views.change_entries,
        _of_sections,
        name="profile_section_entries_act",
    ),
    path("links/address/", content_views.read_address, {"kind": "links"}, name="profile_links_address"),
    *(page for kind in KINDS for page in _pages_of(kind)),
    path("aliases/", content_views.show_aliases, name="profile_aliases"),
    path("aliases/add/", content_views.add_alias, name="profile_aliases_add"),
    path("aliases/named/<alias_name:name>/", content_views.change_alias, name="profile_alias_change"),
    path("aliases/named/<alias_name:name>/delete/", content_views.remove_alias, name="profile_alias_remove"),
]
