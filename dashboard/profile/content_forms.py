"""Forms of the rows of a profile's lists: what all share, and one form for each kind of row."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField

from accounts.models import User
from dashboard import versions
from dashboard.profile import media
from dashboard.profile.forms import SuggestInput
from dashboard.profile.row_fields import AssetField, CommaListField, StoredFile
from dashboard.versions import VersionField
from lookup.documents import registry
from lookup.documents.registry import ContentList
from lookup.editing import content, uploads
from lookup.editing.uploads import Kind
from lookup.models import (
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
from lookup.shapes import platforms
from lookup.shapes.addresses import with_scheme
from lookup.shapes.sections import SectionType


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

    Fields have the names of their columns. Of `never_both`, at most one is given. `folded`: fields that the page shows
    under "More". The form of a list's own model has `words`: it is all that the editor needs for the list.
    `is_preview`: for `typed`, which needs no file. `note`: what to add to the message after `write`.
    """

    content: ClassVar[ContentList]
    words: ClassVar[Words]
    never_both: ClassVar[tuple[str, ...]] = ()
    folded: ClassVar[tuple[str, ...]] = ()
    note = ""
    version = VersionField()

    def __init__(self, *args: Any, profile: Profile, is_preview: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.profile, self.is_preview = profile, is_preview
        self.is_new = self.instance._state.adding
        for name in self.asset_fields if is_preview else ():
            self.fields[name].required = False
        if self.is_new:
            del self.fields["version"]
            return
        self.initial["version"] = content.version_of(self.instance)
        for name in self.asset_fields:
            if asset := getattr(self.instance, name):
                self.initial[name] = StoredFile(asset)

    @property
    def is_untouched(self) -> bool:
        """Whether nothing has been typed into the form of a new row."""
        return self.is_new and not self.has_changed()

    @property
    def asset_fields(self) -> list[str]:
        return [name for name, field in self.fields.items() if isinstance(field, AssetField)]

    def shown_fields(self) -> list[BoundField]:
        return [field for field in self.visible_fields() if field.name not in self.folded]

    def folded_fields(self) -> list[BoundField]:
        return [self[name] for name in self.folded]

    @property
    def is_unfolded(self) -> bool:
        """Whether a folded field is refused, or has a value that does not follow from other fields."""
        expected = self.expected()
        values = {field.name: field.value() for field in self.folded_fields()}
        return any(
            self.has_error(name) or (value and str(value).strip() not in ("", expected.get(name)))
            for name, value in values.items()
        )

    def expected(self) -> dict[str, str]:
        """Return the values of folded fields that follow from other fields."""
        return {}

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

    def typed(self) -> Any:
        """Return the row as it would be with the values of a valid form and its stored files, switched on; None for one
        that cannot be without a file that it lacks."""
        row = copy.copy(self.instance)
        removed = {name: None for name in self.asset_fields if self.cleaned_data[name] is False}
        for name, value in (self.column_values() | removed).items():
            setattr(row, name, value)
        row.profile = self.profile
        if self.content.switch:
            setattr(row, self.content.switch, True)
        if self.is_new:
            row.order = content.LAST_PLACE
        needed = (row._meta.get_field(name) for name in self.asset_fields)
        return None if any(getattr(row, field.attname) is None for field in needed if not field.null) else row

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
# Names of accounts elsewhere in earlier forms of the lookup, and the table of platforms.
PLATFORMS = ("website", *(names[0] for names in PLATFORMS_ELSEWHERE.values()), *platforms.PLATFORMS)
_NO_ADDRESS = "Use a web address such as https://example.org/ or an email address such as mailto:me@example.org."


# Columns of a link that follow from its address, and what the editor calls them.
_FOLLOWING = {"title": "title", "platform_id": "platform", "platform_type": "type"}


def read_address(url: str, *, is_text: bool) -> dict[str, str]:
    """Return what follows from the address of a link, by column, and the `name` of its platform; "" where nothing does.

    `url`: as it was typed, of any length.
    """
    found = None if is_text or len(url) > platforms.MAX_LENGTH else platforms.of_address(with_scheme(url.strip()))
    return {name: getattr(found, name, "") for name in ("name", *_FOLLOWING)}


class LinkForm(RowForm):
    """Title and platform follow from the address, unless the owner has written others."""

    content = registry.LINKS
    words = Words(
        "Your pages on other sites, and texts to copy.",
        "You have no links yet. Add one: a web address, an email address or a text to copy.",
    )
    never_both = ("icon", "icon_svg")
    folded = ("platform_id", "platform_type", "icon", "icon_svg", "color", "recolor")
    is_text = forms.ChoiceField(
        choices=[("False", "Link to open"), ("True", "Text to copy")],
        required=False,
        label="Kind",
        widget=forms.RadioSelect,
    )
    icon = AssetField(Kind.IMAGE, label="Icon")
    field_order = ("url", "is_text", "title", "is_own", *folded)

    class Meta:
        model = Link
        fields = ("title", "url", "is_text", "platform_id", "platform_type", "color", "recolor", "icon_svg", "is_own")
        labels = _LABELS | {
            "url": "Address or text",
            "platform_id": "Platform",
            "platform_type": "Type of entry",
            "is_own": "This is a page of mine",
        }
        help_texts = _HELP_TEXTS | {
            "url": "A web address, an email address, or any text to copy.",
            "title": "Empty: taken from the address of a platform that we know.",
            "platform_id": "For example mastodon, steam or telegram. It chooses the icon where you give none.",
            "platform_type": "For example profile or server.",
            "is_own": "Links with <code>rel=me</code>, so that other sites can verify that both pages are yours. "
            "Its clicks are not counted.",
        }
        widgets = {
            "icon_svg": _SVG,
            "color": _COLOR,
            "url": forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
            "platform_id": SuggestInput(*PLATFORMS),
            "platform_type": SuggestInput("profile", "server", "channel", "group"),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["is_text"] = str(self.instance.is_text)
        self.fields["url"].required = True
        self.fields["url"].error_messages["required"] = "Write where the link leads, or the text to copy."

    def expected(self) -> dict[str, str]:
        url, is_text = self["url"].value(), self["is_text"].value()
        return read_address(str(url or ""), is_text=str(is_text) == "True")

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
            else:
                self._follow(url, is_text=is_text)
                if self.cleaned_data.get("is_own") and (is_text or not url_policy.outside(url)):
                    self.add_error("is_own", "Only a web address can be marked as a page of yours.")
        return self.cleaned_data

    def _follow(self, url: str, *, is_text: bool) -> None:
        """Fill in what follows from a new address: fields that are empty, or have what the stored address gave."""
        stored = self.instance
        if not self.is_new and (stored.url, stored.is_text) == (url, is_text):
            return
        before, now = read_address(stored.url, is_text=stored.is_text), read_address(url, is_text=is_text)
        filled = [name for name in _FOLLOWING if self.cleaned_data.get(name) in ("", before[name])]
        self.cleaned_data.update({name: now[name] for name in filled})
        if said := [_FOLLOWING[name] for name in filled if now[name]]:
            self.note = f" Taken from the address: {', '.join(said)}."


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
        has_one = self.is_preview or any(self.cleaned_data.get(name) for name in self.never_both)
        if not self.errors and not has_one:
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
