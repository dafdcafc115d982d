"""The form of the theme: one of a table, or the name that an import has brought."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard import versions
from dashboard.profile.forms import ColumnsForm
from dashboard.profile.settings_form import FONTS, TITLES, label_of
from dashboard.versions import VersionField
from lookup.models import Profile
from lookup.page import colors
from lookup.shapes import themes


class ThemeSelect(forms.RadioSelect):
    """Cards with miniatures, which css/profile_editor.css draws in the colors of `colors.themes_address()`."""

    option_template_name = "dashboard/profile/_theme_option.html"

    def create_option(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(*args, **kwargs)
        option["theme"] = themes.THEMES.get(str(option["value"]))
        return option


class ThemeForm(ColumnsForm, forms.Form):
    """Values that the owner has changed lie on top of the theme, and stay unless they are taken back."""

    version = VersionField()
    theme = forms.ChoiceField(required=False, widget=ThemeSelect)
    takes_back = forms.BooleanField(
        required=False,
        label="Take back my own changes",
        widget=forms.CheckboxInput({"aria-describedby": "id_takes_back_helptext"}),  # of theme.html
    )

    def __init__(self, *args: Any, instance: Profile, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.profile = instance
        self.initial["version"] = versions.of(instance.updated_at)
        self.initial["theme"] = instance.theme if themes.is_worn(instance) else ""
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
