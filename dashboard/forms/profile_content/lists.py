"""Links, badges, widgets, audios, backgrounds, projects and pictures."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model

from dashboard.forms.profile_content.fields import AssetField, CommaListField
from dashboard.forms.profile_content.rows import RowForm
from lookup import content
from lookup.models import (
    Audio,
    Background,
    CustomBadge,
    GalleryItem,
    Link,
    ProfileBadge,
    Project,
    Section,
    Widget,
)
from lookup.models.validators import TAGS
from lookup.sections import SectionType
from lookup.uploads import Kind

_SVG = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})
_SVG_HELP = "The code of a drawing, up to 20 KiB: <code>&lt;svg …&gt;</code>. Instead of a file."
_COLOR_HELP = "For example #1b5e4b. Empty: as it is."
_LABELS = {"recolor": "Paint it in this colour", "color": "Colour", "icon_svg": "SVG"}
_HELP_TEXTS = {"color": _COLOR_HELP, "icon_svg": _SVG_HELP}
_NO_ADDRESS = "Use a web address such as https://example.org/ or an e-mail address such as mailto:me@example.org."


class LinkForm(RowForm):
    content = content.LINKS
    never_both = ("icon", "icon_svg")
    icon = AssetField(Kind.IMAGE, label="Icon")
    field_order = ("title", "url", "is_text", "platform_id", "platform_type", "icon", "icon_svg", "color", "recolor")

    class Meta:
        model = Link
        fields = ("title", "url", "is_text", "platform_id", "platform_type", "color", "recolor", "icon_svg")
        labels = _LABELS | {
            "url": "Address or text",
            "is_text": "Show it as text to copy, not as a link",
            "platform_id": "Platform",
            "platform_type": "Kind of entry there",
        }
        help_texts = _HELP_TEXTS | {
            "url": "A web address, mailto: and an e-mail address, or any text to copy.",
            "is_text": "",
            "platform_id": "For example mastodon, steam or telegram.",
            "platform_type": "For example profile or server.",
        }
        widgets = {"icon_svg": _SVG}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["url"].required = True
        self.fields["url"].error_messages["required"] = "Write where the link leads, or the text to copy."

    def clean(self) -> dict[str, Any]:
        super().clean()
        url, is_text = self.cleaned_data.get("url"), self.cleaned_data.get("is_text", False)
        if url:
            try:
                Link(url=url, is_text=is_text).clean()
            except ValidationError as error:
                self.add_error("url", _NO_ADDRESS if error.code == "invalid" else error)
        return self.cleaned_data


class ProfileBadgeForm(RowForm):
    """A badge of the catalogue: which of the unlocked tiers is shown, and how."""

    content = content.BADGES
    selected_tier = forms.TypedChoiceField(
        coerce=int, empty_value=None, required=False, label="Tier", help_text="Among those that you have unlocked."
    )
    field_order = ("selected_tier", "color", "recolor")

    class Meta:
        model = ProfileBadge
        fields = ("selected_tier", "color", "recolor")
        labels = _LABELS
        help_texts = _HELP_TEXTS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        badge = self.instance
        titles = {tier.tier: tier.title for tier in badge.badge.tiers.all()}
        tiers = sorted(tier for tier in badge.unlocked_tiers if tier in titles)
        choice = cast("forms.TypedChoiceField", self.fields["selected_tier"])
        choice.choices = [("", "The highest"), *((tier, f"{tier}: {titles[tier]}") for tier in tiers)]
        if not tiers:
            del self.fields["selected_tier"]

    def column_values(self) -> dict[str, Any]:
        names = [name for name in ("selected_tier", "color", "recolor") if name in self.fields]
        return {name: self.cleaned_data[name] for name in names}


class CustomBadgeForm(RowForm):
    content = content.BADGES
    never_both = ("image", "icon_svg")
    image = AssetField(Kind.BADGE, label="Image")
    field_order = ("name", "image", "icon_svg", "color", "recolor")

    class Meta:
        model = CustomBadge
        fields = ("name", "icon_svg", "color", "recolor")
        labels = _LABELS
        help_texts = _HELP_TEXTS
        widgets = {"icon_svg": _SVG}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].required = True

    def clean(self) -> dict[str, Any]:
        super().clean()
        if not self.errors and not any(self.cleaned_data.get(name) for name in self.never_both):
            self.add_error("image", "Choose an image, or write an SVG.")
        return self.cleaned_data


class WidgetForm(RowForm):
    content = content.WIDGETS

    class Meta:
        model = Widget
        fields = ("platform", "type", "identifier")
        labels = {"identifier": "Your name or id there"}
        help_texts = {
            "platform": "For example scrobbler, chat or weather.",
            "type": "What it shows: for example recent, presence or today.",
            "identifier": "A user name, an id, a place: what the widget asks for.",
        }


class AudioForm(RowForm):
    content = content.AUDIOS
    audio = AssetField(Kind.AUDIO, label="File", required=True)
    cover = AssetField(Kind.IMAGE, label="Cover")
    field_order = ("title", "artist", "audio", "cover", "external_url")

    class Meta:
        model = Audio
        fields = ("title", "artist", "external_url")
        labels = {"external_url": "Its page elsewhere"}
        help_texts = {"external_url": "A web address, such as https://example.org/song."}


class BackgroundForm(RowForm):
    content = content.BACKGROUNDS
    asset = AssetField(Kind.BACKGROUND, label="Picture or film", required=True)

    class Meta:
        model = Background
        fields = ("title",)


class ProjectForm(RowForm):
    content = content.PROJECTS
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

    def column_values(self) -> dict[str, Any]:
        return {**super().column_values(), "tags": self.cleaned_data["tags"]}


class GalleryItemForm(RowForm):
    content = content.GALLERY
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


FORMS: dict[type[Model], type[RowForm]] = {
    Link: LinkForm,
    ProfileBadge: ProfileBadgeForm,
    CustomBadge: CustomBadgeForm,
    Widget: WidgetForm,
    Audio: AudioForm,
    Background: BackgroundForm,
    Project: ProjectForm,
    GalleryItem: GalleryItemForm,
}
