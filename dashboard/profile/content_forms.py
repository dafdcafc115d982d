"""Forms of the rows of a profile's lists: what all share, and one form for each kind of row."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from django import forms
from django.core.exceptions import ValidationError

from accounts.models import User
from dashboard import versions
from dashboard.profile import media
from dashboard.profile.forms import SuggestInput, UploadField
from dashboard.versions import VersionField
from lookup.documents import registry
from lookup.documents.registry import ContentList
from lookup.editing import content, uploads
from lookup.editing.uploads import Kind
from lookup.models import (
    Asset,
    Audio,
    Background,
    CustomBadge,
    GalleryItem,
    Link,
    Profile,
    ProfileBadge,
    Project,
    Section,
    Widget,
)
from lookup.models.validators import TAGS
from lookup.page import url_policy
from lookup.serializers.rows import PLATFORMS as PLATFORMS_ELSEWHERE
from lookup.shapes import addresses
from lookup.shapes.addresses import with_scheme
from lookup.shapes.sections import SectionType
from lookup.shapes.strict_fields import TextList


class StoredFile:
    """The stored file of a row, as the widget shows it."""

    def __init__(self, asset: Asset) -> None:
        self.url = url_policy.on_page(addresses.upload(asset.path))
        self.name = asset.path.rpartition("/")[2]
        self.is_image = asset.mime.startswith("image/")

    def __str__(self) -> str:
        return self.name


class StoredFileInput(forms.ClearableFileInput):
    """The stored file, a box that removes it, and the input for another file."""

    template_name = "dashboard/profile_content/widgets/stored_file.html"


class AssetField(UploadField):
    """A file of a row. Cleans to an upload to store, False to remove the stored file, or the `StoredFile` to keep."""

    input = StoredFileInput

    def __init__(self, kind: Kind, *, label: str, required: bool = False) -> None:
        super().__init__(kind, label=label, required=required)

    def clean(self, data: Any, initial: Any = None) -> Any:
        return super().clean(data, initial) if data else forms.FileField.clean(self, data, initial)


class CommaListField(forms.CharField):
    """Short texts separated by commas. Cleans to a list without duplicates."""

    def __init__(self, rule: TextList, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)
        self.rule = rule

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        typed = (part.strip() for part in str(super().clean(value)).split(","))
        texts = list(dict.fromkeys(filter(None, typed)))
        if problem := self.rule.problem_of(texts):
            raise ValidationError(problem)
        return texts


@dataclass(frozen=True)
class Words:
    """What the editor says about a list. `lead`: what the list is for; `empty`: what to do when it has no rows.

    `title`, `noun`: of the list and of one row, where these are not the names of the list and of its model.
    """

    lead: str
    empty: str
    title: str = ""
    noun: str = ""


class RowForm(forms.ModelForm[Any]):
    """The form of a row of a profile's list. `instance` is the stored row, or a new one.

    Fields have the names of their columns. Of `never_both`, at most one is given. The form of a list's own model has
    `words`: it is all that the editor needs for the list.
    """

    content: ClassVar[ContentList]
    words: ClassVar[Words]
    never_both: ClassVar[tuple[str, ...]] = ()
    version = VersionField()

    def __init__(self, *args: Any, profile: Profile, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.profile = profile
        self.is_new = self.instance._state.adding
        if self.is_new:
            del self.fields["version"]
            return
        self.initial["version"] = content.version_of(self.instance)
        for name in self.asset_fields:
            if asset := getattr(self.instance, name):
                self.initial[name] = StoredFile(asset)

    @property
    def asset_fields(self) -> list[str]:
        return [name for name, field in self.fields.items() if isinstance(field, AssetField)]

    def clean(self) -> dict[str, Any]:
        super().clean()
        if self.never_both and all(self.cleaned_data.get(name) for name in self.never_both):
            is_stored = any(isinstance(self.cleaned_data[name], StoredFile) for name in self.never_both)
            remove = "To use this instead of the file, tick “Remove” next to the file."
            choose = "Use a file or this field, not both: empty this field, or choose no file."
            self.add_error(self.never_both[-1], remove if is_stored else choose)
        return self.cleaned_data

    def _post_clean(self) -> None:
        """Check the columns, by field. The instance stays unchanged, because operations write a row of their own."""
        row = copy.copy(self.instance)
        given = [name for name in self._meta.fields or () if name in self.cleaned_data]
        for name in given:
            setattr(row, name, self.cleaned_data[name])
        try:
            row.clean_fields(exclude={field.name for field in row._meta.fields} - set(given))
        except ValidationError as refusal:
            self.show(refusal)

    def column_values(self) -> dict[str, Any]:
        """Return the columns to save, without files."""
        return {name: self.cleaned_data[name] for name in self._meta.fields or () if name in self.fields}

    def write(self, *, by: User) -> bool:
        """Save the row as `instance`. Return False if refused; the form has the errors. Raises ObjectDoesNotExist: the
        row was deleted."""
        stored: dict[str, Any] = {}
        try:
            self._store_files(stored, by)
            values = self.column_values() | stored
            if self.is_new:
                self.instance = content.add(content=self.content, profile=self.profile, values=values, by=by)
            else:
                version = self.cleaned_data["version"]
                self.instance = content.change(
                    content=self.content,
                    profile=self.profile,
                    pk=self.instance.pk,
                    values=values,
                    expected_version=version,
                    by=by,
                )
        except content.StaleVersion:
            self.add_error(None, versions.CHANGED)
        except ValidationError as refusal:
            self.show(refusal)
        if self.errors:
            uploads.release(*(asset.pk for asset in stored.values() if asset is not None))
        return not self.errors

    def _store_files(self, stored: dict[str, Any], by: User) -> None:
        """Add the new asset of each chosen file to `stored`, by column, and None for a removed file. Raises
        ValidationError by field."""
        for name in self.asset_fields:
            field, given = self.fields[name], self.cleaned_data[name]
            if given is False:
                stored[name] = None
            elif given and not isinstance(given, StoredFile) and isinstance(field, AssetField):
                try:
                    stored[name] = media.store(user=self.profile.user, kind=field.kind, upload=given, by=by)
                except ValidationError as refusal:
                    raise ValidationError({name: refusal}) from refusal

    def show(self, refusal: ValidationError) -> None:
        """Add the errors of an operation to their fields, or above the form."""
        if not hasattr(refusal, "error_dict"):
            self.add_error(None, refusal)
            return
        for path, problems in refusal.error_dict.items():
            field = next((part for part in reversed(path.split(".")) if part in self.fields), None)
            if field or path == "__all__":
                self.add_error(field, problems)
            else:
                self.add_error(None, [f"{path}: {text}" for problem in problems for text in problem.messages])


_SVG = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})
_SVG_HELP = "The code of a drawing, up to 20 KB: <code>&lt;svg …&gt;</code>. Instead of a file."
_COLOR = forms.TextInput(attrs={"data-color": "", "spellcheck": "false", "autocomplete": "off"})
_COLOR_HELP = "For example #1b5e4b. Empty: as it is."
_LABELS = {"recolor": "Paint it in this color", "color": "Color", "icon_svg": "SVG"}
_HELP_TEXTS = {"color": _COLOR_HELP, "icon_svg": _SVG_HELP}
# What earlier forms of the lookup know.
PLATFORMS = ("website", *(name for names in PLATFORMS_ELSEWHERE.values() for name in (names[0], *names[3:])))
_NO_ADDRESS = "Use a web address such as https://example.org/ or an email address such as mailto:me@example.org."


class KindSelect(forms.RadioSelect):
    """A link or a text, each with its icon."""

    option_template_name = "dashboard/profile_content/widgets/kind_option.html"


class LinkForm(RowForm):
    content = registry.LINKS
    words = Words(
        "Your pages on other sites, and texts to copy.",
        "You have no links yet. Add one: a web address, an email address or a text to copy.",
    )
    never_both = ("icon", "icon_svg")
    is_text = forms.ChoiceField(
        choices=[(False, "Link to open"), (True, "Text to copy")], required=False, label="Kind", widget=KindSelect
    )
    icon = AssetField(Kind.IMAGE, label="Icon")
    field_order = ("is_text", "title", "url", "platform_id", "platform_type", "icon", "icon_svg", "color", "recolor")

    class Meta:
        model = Link
        fields = ("title", "url", "is_text", "platform_id", "platform_type", "color", "recolor", "icon_svg")
        labels = _LABELS | {
            "url": "Address or text",
            "platform_id": "Platform",
            "platform_type": "Type of entry",
        }
        help_texts = _HELP_TEXTS | {
            "url": "A web address, an email address, or any text to copy.",
            "platform_id": "For example mastodon, steam or telegram.",
            "platform_type": "For example profile or server.",
        }
        widgets = {
            "icon_svg": _SVG,
            "color": _COLOR,
            "platform_id": SuggestInput(*PLATFORMS),
            "platform_type": SuggestInput("profile", "server", "channel", "group"),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["url"].required = True
        self.fields["url"].error_messages["required"] = "Write where the link leads, or the text to copy."

    def clean_is_text(self) -> bool:
        return bool(self.cleaned_data["is_text"] == "True")

    def clean(self) -> dict[str, Any]:
        super().clean()
        url, is_text = self.cleaned_data.get("url"), self.cleaned_data.get("is_text", False)
        if url:
            url = self.cleaned_data["url"] = url if is_text else with_scheme(url)
            try:
                Link(url=url, is_text=is_text).clean()
            except ValidationError as error:
                self.add_error("url", _NO_ADDRESS if error.code == "invalid" else error)
        return self.cleaned_data


class ProfileBadgeForm(RowForm):
    """A badge of the catalogue: which of the unlocked tiers is shown, and how."""

    content = registry.BADGES
    selected_tier = forms.TypedChoiceField(
        coerce=int, empty_value=None, required=False, label="Tier", help_text="Among those that you have unlocked."
    )
    field_order = ("selected_tier", "color", "recolor")

    class Meta:
        model = ProfileBadge
        fields = ("selected_tier", "color", "recolor")
        labels = _LABELS
        help_texts = _HELP_TEXTS
        widgets = {"color": _COLOR}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        badge = self.instance
        titles = {tier.tier: tier.title for tier in badge.badge.tiers.all()}
        tiers = sorted(tier for tier in badge.unlocked_tiers if tier in titles)
        choice = cast("forms.TypedChoiceField", self.fields["selected_tier"])
        choice.choices = [("", "The highest"), *((tier, f"{tier}: {titles[tier]}") for tier in tiers)]
        if not tiers:
            del self.fields["selected_tier"]


class CustomBadgeForm(RowForm):
    content = registry.BADGES
    words = Words(
        "You earn badges, or staff give them to you. You can add badges of your own.",
        "You have no badges yet. You earn them with views, likes and comments. You can also add your own.",
        noun="badge",
    )
    never_both = ("image", "icon_svg")
    image = AssetField(Kind.BADGE, label="Image")
    field_order = ("name", "image", "icon_svg", "color", "recolor")

    class Meta:
        model = CustomBadge
        fields = ("name", "icon_svg", "color", "recolor")
        labels = _LABELS
        help_texts = _HELP_TEXTS
        widgets = {"icon_svg": _SVG, "color": _COLOR}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].required = True

    def clean(self) -> dict[str, Any]:
        super().clean()
        if not self.errors and not any(self.cleaned_data.get(name) for name in self.never_both):
            self.add_error("image", "Choose an image, or write an SVG.")
        return self.cleaned_data


class WidgetForm(RowForm):
    content = registry.WIDGETS
    words = Words(
        "What other services show about you. An “About me” section chooses which ones it shows.",
        "You have no widgets yet. Add one, and then choose it in an “About me” section.",
    )

    class Meta:
        model = Widget
        fields = ("platform", "type", "identifier")
        labels = {"identifier": "Your name or id there"}
        help_texts = {
            "platform": "For example scrobbler, chat or weather.",
            "type": "What it shows: for example recent, presence or today.",
            "identifier": "What the widget needs, such as a user name, an id or a location.",
        }
        widgets = {
            "platform": SuggestInput("scrobbler", "chat", "weather", *PLATFORMS[1:]),
            "type": SuggestInput("recent", "presence", "today"),
        }


class AudioForm(RowForm):
    content = registry.AUDIOS
    words = Words(
        "What your page plays, in this order.",
        "You have no songs yet. Add one: an audio file with its title.",
        title="Audio",
        noun="song",
    )
    audio = AssetField(Kind.AUDIO, label="File", required=True)
    cover = AssetField(Kind.IMAGE, label="Cover")
    field_order = ("title", "artist", "audio", "cover", "external_url")

    class Meta:
        model = Audio
        fields = ("title", "artist", "external_url")
        labels = {"external_url": "Its page elsewhere"}
        help_texts = {"external_url": "A web address, such as https://example.org/song."}

    def clean_external_url(self) -> str:
        return with_scheme(self.cleaned_data["external_url"])


class BackgroundForm(RowForm):
    content = registry.BACKGROUNDS
    words = Words(
        "Pictures or videos behind your page. Earlier forms of the lookup return the first one that is on.",
        "You have no backgrounds yet. Add a picture or a video.",
    )
    asset = AssetField(Kind.BACKGROUND, label="Picture or video", required=True)

    class Meta:
        model = Background
        fields = ("title",)


class ProjectForm(RowForm):
    content = registry.PROJECTS
    words = Words(
        "What you have made. A “Projects” section chooses which ones it shows.",
        "You have no projects yet. Add one with a title and its address.",
    )
    icon = AssetField(Kind.IMAGE, label="Picture")
    tags = CommaListField(TAGS, help_text="With commas between them, at most 20 of 40 characters each.")
    field_order = ("title", "description", "url", "tags", "icon")

    class Meta:
        model = Project
        fields = ("title", "description", "url")
        labels = {"url": "Address"}
        help_texts = {"url": "A web address, such as https://example.org/."}
        widgets = {"description": forms.Textarea(attrs={"rows": 4})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.setdefault("tags", self.instance.tags)

    def clean_url(self) -> str:
        return with_scheme(self.cleaned_data["url"])

    def column_values(self) -> dict[str, Any]:
        return {**super().column_values(), "tags": self.cleaned_data["tags"]}


class GalleryItemForm(RowForm):
    content = registry.GALLERY
    words = Words(
        "Pictures, in gallery sections or below all sections.",
        "Your gallery is empty. Add a picture.",
        noun="picture",
    )
    asset = AssetField(Kind.IMAGE, label="Picture", required=True)
    field_order = ("asset", "caption", "width", "section")

    class Meta:
        model = GalleryItem
        fields = ("caption", "width", "section")
        help_texts = {"section": "Pictures in no section are shown below all sections."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = cast("forms.ModelChoiceField[Section]", self.fields["section"])
        galleries = Section.objects.filter(profile=self.profile, type=SectionType.GALLERY)
        choice.queryset, choice.empty_label = galleries.order_by("order", "pk"), "No section"
