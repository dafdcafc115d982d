"""The profile's own fields, a file of it, and who may see it."""

from __future__ import annotations

import copy
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.models import User
from dashboard import editing, media, versions
from dashboard.forms.uploads import UploadField
from lookup import profiles, uploads
from lookup.models import Profile
from lookup.uploads import Kind


class ProfileForm(forms.ModelForm[Profile]):
    version = versions.VersionField()

    class Meta:
        model = Profile
        fields = (
            *("display_name", "description", "location", "name", "theme", "font", "font_username"),
            *("sound_effect", "sound_effect_button"),
        )
        labels = {
            "display_name": "Display name",
            "name": "Name of the profile",
            "font_username": "Font of the name",
            "sound_effect": "Sound of the page",
            "sound_effect_button": "Sound of buttons",
        }
        help_texts = {
            "display_name": "At the top of the page. Empty: the name of your account, or your username.",
            "description": "At most 2000 characters; line breaks stay.",
            "name": "For yourself, to tell your profiles apart. Lookups name it too.",
            "theme": "Told to programs that show your profile elsewhere; our page knows no themes.",
            "font": "The name of a font, for programs that know it. A font of your own: under Media.",
            "font_username": "The same, for your name alone.",
            "sound_effect": "The name of a sound, for programs that know it. A sound of your own: under Media.",
            "sound_effect_button": "The same, when something is pressed.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Any: Django's arguments. `instance` is the profile; the form never saves it itself."""
        super().__init__(*args, **kwargs)
        self.profile = copy.copy(self.instance)  # as it is stored: validation writes what was typed into the other one
        self.initial["version"] = versions.of(self.instance.updated_at)

    def clean_description(self) -> str:
        """Browsers send the line breaks of a text as two characters each."""
        return str(self.cleaned_data["description"]).replace("\r\n", "\n")

    def write(self, *, by: User) -> bool:
        """Save what was typed. False: it was refused, and the form says why."""
        values = {name: self.cleaned_data[name] for name in self.Meta.fields}
        return written(self, self.profile, values, by=by)


class MediaForm(forms.Form):
    """A new file in one of the places of `Profile.ASSETS`."""

    def __init__(self, data: Any = None, files: Any = None, *, profile: Profile, place: str) -> None:
        """Any: of a request."""
        super().__init__(data, files, prefix=place)
        self.profile, self.place = profile, place
        self.fields["file"] = UploadField(KINDS[place], label="New file")

    def write(self, *, by: User) -> bool:
        """Keep the file and show it there. False: it was refused, and the form says why."""
        try:
            asset = media.store(user=self.profile.user, kind=KINDS[self.place], upload=self.cleaned_data["file"], by=by)
        except ValidationError as refusal:
            self.add_error("file", refusal)
            return False
        profiles.change(profile=self.profile, values={self.place: asset}, by=by)
        uploads.release(asset.pk)  # unless the profile shows it
        return True


class PrivacyForm(forms.Form):
    public_api_access = forms.BooleanField(required=False, label="Other people and programs may see my profile")


KINDS = {
    **dict.fromkeys(
        ("avatar", "banner", "cursor", "cursor_pointer", "metadata_favicon", "metadata_banner"), Kind.IMAGE
    ),
    **dict.fromkeys(("font_asset", "font_username_asset"), Kind.FONT),
    **dict.fromkeys(("sound_effect_asset", "sound_effect_button_asset"), Kind.AUDIO),
}


def written(form: forms.BaseForm, profile: Profile, values: dict[str, Any], *, by: User) -> bool:
    """Change the profile unless it is another one than that of the form's version. Any: what the columns hold.

    False: it was refused, and the form says why.
    """
    try:
        with editing.unchanged(profile, form.cleaned_data["version"]):
            profiles.change(profile=profile, values=values, by=by)
    except Profile.DoesNotExist:
        form.add_error(None, "This profile has been deleted meanwhile.")
    except ValidationError as refusal:
        form.add_error(None, refusal.messages)
    return not form.errors
