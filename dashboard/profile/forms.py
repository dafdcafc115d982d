"""The profile's own fields, its files, privacy, aliases, export and import."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import TextChoices
from django.forms import BoundField

from accounts.models import User
from accounts.models.names import MAX_NAME_LENGTH, validate_available
from accounts.models.users import username_validator
from dashboard import versions
from dashboard.profile import WORDS, media
from lookup.editing import profiles, uploads
from lookup.editing.uploads import MIB, Kind
from lookup.models import Alias, Profile
from lookup.shapes import settings_schema
from lookup.transfer import link_files, own


class SuggestInput(forms.TextInput):
    """Any text, with suggestions."""

    template_name = "dashboard/profile_content/widgets/suggest.html"

    def __init__(self, *suggestions: str) -> None:
        super().__init__(attrs={"autocapitalize": "none", "spellcheck": "false"})
        self.suggestions = suggestions

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        context["widget"]["attrs"]["list"] = f"suggested-{name}"
        return context | {"suggestions": self.suggestions}


class UploadField(forms.FileField):
    """`UploadField(Kind.AUDIO)` names the accepted types. `media.store` checks the type of the file."""

    input: type[forms.FileInput] = forms.FileInput

    def __init__(self, kind: Kind, *, label: str, required: bool = True) -> None:
        self.kind = kind
        said = {"label": label, "help_text": accepted_files(kind), "error_messages": {"empty": "This file is empty."}}
        super().__init__(required=required, widget=self.input(attrs={"accept": media.ENDINGS[kind]}), **said)  # type: ignore[arg-type]  # texts

    def clean(self, data: Any, initial: Any = None) -> Any:
        upload = super().clean(data, initial)
        if upload:
            uploads.check_size(upload.size, self.kind)
        return upload


def accepted_files(kind: Kind) -> str:
    """Return the accepted types and sizes, in words."""
    size = uploads.most(kind) // MIB
    if kind is Kind.BACKGROUND:
        return f"{media.TYPES[kind]}; a picture of at most {uploads.MAX_SIZE[kind] // MIB} MB, a video of {size} MB."
    text = f"{media.TYPES[kind]}, at most {size} MB."
    if kind is Kind.AUDIO:  # its tags are not removed
        text += " Its tags stay readable for everyone: title, artist, comments, cover."
    return text


class ColumnsForm(forms.BaseForm):
    """A form of a profile's own columns. `profile`: as it is stored."""

    profile: Profile

    def columns(self) -> dict[str, Any]:
        """Return the values to save."""
        raise NotImplementedError

    def typed(self) -> Profile:
        """Return the profile as it would be with the values of a valid form."""
        changed = copy.copy(self.profile)
        for column, value in self.columns().items():
            setattr(changed, column, settings_schema.validated(value) if column == "settings" else value)
        return changed

    def write(self, *, by: User) -> bool:
        """Save the values, unless the profile has changed since the form's version. Return False if they were refused;
        the form has the errors."""
        try:
            with profiles.changing(self.profile.pk, by=by) as block:
                versions.check(self.cleaned_data["version"], block.profile.updated_at)
                profiles.change(profile=self.profile, values=self.columns(), by=by)
        except Profile.DoesNotExist:
            self.add_error(None, "This profile has been deleted.")
        except ValidationError as refusal:
            self.add_error(None, refusal.messages)
        return not self.errors


class ProfileForm(ColumnsForm, forms.ModelForm[Profile]):
    """`for_clients`: the fields that our page does not use."""

    version = versions.VersionField()
    for_clients = ("name", "sound_effect", "sound_effect_button")

    class Meta:
        model = Profile
        fields = ("display_name", "description", "location", "name", "sound_effect", "sound_effect_button")
        labels = {
            "display_name": "Display name",
            "name": "Name of the profile",
            "sound_effect": "Sound of the page",
            "sound_effect_button": "Sound of buttons",
        }
        widgets = {"description": forms.Textarea(attrs={"rows": 4})}
        help_texts = {
            "display_name": "At the top of the page. Empty: the name of your account, or your username.",
            "description": "At most 2000 characters; line breaks stay.",
            "name": "To tell your profiles apart. Lookups show it too.",
            "sound_effect": "The name of a sound. You can upload a sound under Media.",
            "sound_effect_button": "The name of a sound, for presses of buttons.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take the profile as `instance`. `write` saves it, not the form."""
        super().__init__(*args, **kwargs)
        self.profile = copy.copy(self.instance)  # as it is stored: validation writes what was typed into the other one
        self.initial["version"] = versions.of(self.instance.updated_at)

    def fields_on_page(self) -> list[BoundField]:
        return [field for field in self.visible_fields() if field.name not in self.for_clients]

    def fields_for_clients(self) -> list[BoundField]:
        return [self[name] for name in self.for_clients]

    def is_client_field_refused(self) -> bool:
        return any(name in self.errors for name in self.for_clients)

    def clean_description(self) -> str:
        """Count a line break, which browsers send as two characters, as one."""
        return str(self.cleaned_data["description"]).replace("\r\n", "\n")

    def typed(self) -> Profile:
        """Return the profile as it would be with the values of a valid form."""
        return self.instance

    def columns(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.Meta.fields}


@dataclass(frozen=True)
class Place:
    """Where the profile shows a file. `crop`: the size of a part that is cut out of a picture, in pixels. `on_page`:
    our page shows the file, and not only API clients."""

    kind: Kind
    title: str
    lead: str
    crop: str = ""
    on_page: bool = False


PLACES = {name: Place(**{**words, "kind": Kind(words["kind"])}) for name, words in WORDS["places"].items()}


class MediaForm(forms.Form):
    """A new file in one of PLACES."""

    def __init__(self, data: Any = None, files: Any = None, *, profile: Profile, place: str) -> None:
        super().__init__(data, files, prefix=place)
        self.profile, self.place = profile, place
        field = UploadField(PLACES[place].kind, label="New file")
        if PLACES[place].on_page:  # the page says it once for all pictures
            field.help_text = ""
            field.widget.attrs["aria-describedby"] = "picture-files"
        if PLACES[place].crop:
            field.widget.attrs |= {"data-crop": PLACES[place].crop, "data-crop-send": ""}
        self.fields["file"] = field

    def write(self, *, by: User) -> bool:
        """Store the file and show it there. Return False if refused; the form has the errors."""
        try:
            asset = media.store(
                user=self.profile.user, kind=PLACES[self.place].kind, upload=self.cleaned_data["file"], by=by
            )
        except ValidationError as refusal:
            self.add_error("file", refusal)
            return False
        profiles.change(profile=self.profile, values={self.place: asset}, by=by)
        uploads.release(asset.pk)  # unless the profile shows it
        return True


class PrivacyForm(forms.Form):
    public_api_access = forms.BooleanField(required=False, label="Other people and programs may see my profile")


class ImportForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="A file that was exported here. You see what it changes before anything is saved.",
        widget=forms.FileInput(attrs={"accept": ".json,.jsonl"}),
        error_messages={"empty": "This file is empty."},
    )

    def clean_file(self) -> str:
        file = self.cleaned_data["file"]
        if file.size > own.MAX_BYTES:
            most = own.MAX_BYTES // 1024 // 1024
            raise ValidationError(f"This file is too large: an export of one profile has at most {most} MB.")
        try:
            return str(file.read().decode())
        except UnicodeDecodeError:
            raise ValidationError("This file is not UTF-8 text.") from None


class LinksForm(forms.Form):
    """A file of another service with links in it."""

    links = forms.FileField(
        label="Saved page or table",
        help_text="HTML as your browser saves a page, or CSV with the columns address and title; at most "
        f"{link_files.MAX_BYTES // MIB} MB.",
        widget=forms.FileInput(attrs={"accept": ".html,.htm,.csv,.tsv,.txt"}),
        error_messages={"empty": "This file is empty."},
    )

    def clean_links(self) -> bytes:
        file = self.cleaned_data["links"]
        if file.size > link_files.MAX_BYTES:
            raise ValidationError(f"This file is too large: at most {link_files.MAX_BYTES // MIB} MB are read.")
        return bytes(file.read())


class ConfirmForm(forms.Form):
    """The second step of an import. The form carries the text, which is checked again, and the digest of the changes
    that the page shows."""

    text = forms.CharField(widget=forms.HiddenInput, max_length=own.MAX_BYTES, strip=False)
    digest = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)

    def clean_text(self) -> Any:
        return self.cleaned_data["text"].replace("\r\n", "\n")


class Shows(TextChoices):
    """What visitors of an alias see."""

    REDIRECT = "redirect", "They are redirected to your username"
    MAIN = "main", "They see your main profile, under this name"
    OWN = "own", "They see a profile of its own"


def shown_by(alias: Alias) -> Shows:
    if alias.redirects:
        return Shows.REDIRECT
    return Shows.OWN if alias.profile_id is not None else Shows.MAIN


class AliasChangeForm(forms.Form):
    shows = forms.ChoiceField(
        choices=Shows.choices, initial=Shows.REDIRECT, widget=forms.RadioSelect, label="What visitors get"
    )

    def choices_of_operation(self) -> dict[str, bool]:
        """Return the arguments of `aliases.add` and `aliases.change`."""
        shows = self.cleaned_data["shows"]
        return {"redirects": shows == Shows.REDIRECT, "has_own_profile": shows == Shows.OWN}


class AliasAddForm(AliasChangeForm):
    name = forms.CharField(
        max_length=MAX_NAME_LENGTH,
        validators=[username_validator, validate_available],
        label="Name",
        help_text=f"1 to {MAX_NAME_LENGTH} letters, digits and . _ -; names of other users are taken.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    field_order = ("name", "shows")


class AliasConfirmForm(AliasChangeForm):
    """Carries the choice through the page that asks once more."""

    shows = forms.ChoiceField(choices=Shows.choices, widget=forms.HiddenInput)
    confirmed = forms.BooleanField(widget=forms.HiddenInput)
