"""The form of the theme: one of a table, or the name that an import has brought."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from django import forms

from dashboard import versions
from dashboard.profile.forms import ColumnsForm
from dashboard.profile.settings_form import FONTS, TITLES, label_of
from dashboard.versions import VersionField
from lookup.models import Asset, Profile
from lookup.page import colors, url_policy
from lookup.shapes import addresses, settings_schema, themes


class DrawnPage:
    """The parts of a profile's page that a drawing of it shows. 1 query for its pictures."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    @cached_property
    def name(self) -> str:
        user = self._profile.user
        return str(self._profile.display_name or user.display_name or user.username)

    @property
    def initial(self) -> str:
        return self.name[:1].upper()

    @cached_property
    def _pictures(self) -> dict[str, str]:
        """Return the addresses of the picture and the banner, by the ids of their files."""
        pks = [pk for pk in (self._profile.avatar_id, self._profile.banner_id) if pk]
        found = Asset.objects.in_bulk(pks)
        return {pk: url_policy.on_page(addresses.upload(asset.path)) for pk, asset in found.items()}

    @property
    def portrait(self) -> str:
        """Return the address of the picture; "" where the page shows the one of the chat platform, or none."""
        is_mirrored = settings_schema.filled(self._profile.settings)["avatarSettings"]["mirrorChat"]
        return "" if is_mirrored else self._pictures.get(self._profile.avatar_id or "", "")

    @property
    def banner(self) -> str:
        return self._pictures.get(self._profile.banner_id or "", "")


class ThemeSelect(forms.RadioSelect):
    """Cards with miniatures, which css/profile_editor.css draws in the colors of `colors.themes_address()`.

    `page`: what the miniatures show; `current`: the theme of the profile.
    """

    option_template_name = "dashboard/profile/_theme_option.html"
    page: DrawnPage
    current: str

    def create_option(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(*args, **kwargs)
        name = str(option["value"])
        return option | {"theme": themes.THEMES.get(name), "page": self.page, "is_current": name == self.current}


class ThemeForm(ColumnsForm, forms.Form):
    """Values that the owner has changed lie on top of the theme, and stay unless they are taken back."""

    version = VersionField()
    theme = forms.ChoiceField(required=False, widget=ThemeSelect)
    takes_back = forms.BooleanField(
        required=False,
        label="Take back my own changes",
        widget=forms.CheckboxInput({"aria-describedby": "own-help"}),  # of theme.html
    )

    def __init__(self, *args: Any, instance: Profile, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.profile = instance
        self.initial["version"] = versions.of(instance.updated_at)
        self.initial["theme"] = instance.theme if themes.is_worn(instance) else ""
        select = cast("ThemeSelect", self.fields["theme"].widget)
        select.page, select.current = DrawnPage(instance), self.initial["theme"]
        names = [*([instance.theme] if self.has_unknown else []), *themes.THEMES]
        self.fields["theme"].choices = [(name, name.capitalize() if name in themes.THEMES else name) for name in names]  # type: ignore[attr-defined]  # a ChoiceField
        self.own_changes = [_label(path) for path in themes.own_changes(instance)]

    @property
    def has_unknown(self) -> bool:
        """Whether the profile's theme has a name, which our table does not have."""
        return bool(self.profile.theme) and self.profile.theme not in themes.THEMES

    @property
    def style(self) -> str:
        return colors.themes_address()

    def columns(self) -> dict[str, Any]:
        """Return what the theme writes; nothing where the form says what the profile has."""
        name, takes_back = self.cleaned_data["theme"], self.cleaned_data["takes_back"]
        if name == self.initial["theme"] and not takes_back:
            return {}
        return themes.picked(self.profile, name or self.profile.theme, keeps_own=not takes_back)


def _label(path: str) -> str:
    """Return what the editor calls a column or a setting."""
    if path in FONTS:
        return FONTS[path][0]
    key, _, name = path.partition(".")
    return f"{TITLES[key]}: {label_of(key, name)}"
