"""Forms of sections: what all share, and what each of the nine types adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from django import forms

from accounts.text_rules import validate_text
from dashboard.profile.content_forms import CommaListField, RowForm
from lookup import registry
from lookup.models import Project, Section, Widget
from lookup.page.sections import GROUP_NAMES
from lookup.sections import MAX_CONTENT, MAX_ITEMS, SKILL_GROUPS, Alignment, SectionType
from lookup.values import TextList

_SKILLS = TextList(max_items=MAX_ITEMS, max_length=64, min_length=1)


class SectionForm(RowForm):
    """`hint`: what else there is to do for the section, elsewhere."""

    content = registry.SECTIONS
    hint: ClassVar[str] = ""

    class Meta:
        model = Section
        fields = ("title", "description", "alignment")
        help_texts = {"title": "Empty: the name of its type."}
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def config_values(self) -> dict[str, Any]:
        """What the form says of the configuration. Any: JSON."""
        return {}

    def column_values(self) -> dict[str, Any]:
        values = {**super().column_values(), "config": {**self.config, **self.config_values()}}
        return {**values, "type": self.instance.type} if self.is_new else values

    @property
    def config(self) -> dict[str, Any]:
        """As it is stored. Any: JSON."""
        stored = self.instance.config
        return stored if isinstance(stored, dict) else {}


class TextSectionForm(SectionForm):
    body = forms.CharField(
        label="Text",
        max_length=MAX_CONTENT,
        required=False,
        validators=[validate_text],
        widget=forms.Textarea(attrs={"rows": 10}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["body"] = self.config.get("content", "")

    def config_values(self) -> dict[str, Any]:
        return {"content": self.cleaned_data["body"]}


class ChosenRows(forms.MultipleChoiceField):
    """Boxes for rows of the profile. Those that were chosen before stay in their order, others come behind them."""

    widget = forms.CheckboxSelectMultiple

    def offer(self, rows: Sequence[Widget | Project]) -> None:
        self.choices = [(row.pk, str(row)) for row in rows]

    def in_order(self, chosen: Sequence[str], before: Sequence[str]) -> list[str]:
        return [*(pk for pk in before if pk in chosen), *(pk for pk in chosen if pk not in before)]


class AboutMeForm(TextSectionForm):
    widgets = ChosenRows(label="Widgets in this section", required=False)
    has_skills = forms.BooleanField(label="Show the skills", required=False)
    skills_alignment = forms.ChoiceField(label="Alignment of the skills", choices=Alignment.choices)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer_widgets()
        self.initial["has_skills"] = self.config.get("skillsEnabled", True)
        self.initial["skills_alignment"] = self.config.get("skillsAlignment", Alignment.LEFT)
        stored = self.config.get("skills", {})
        for group in SKILL_GROUPS:
            label = f"Skills: {GROUP_NAMES[group].lower()}"
            self.fields[group] = CommaListField(_SKILLS, label=label, help_text="With commas between them.")
            self.initial[group] = stored.get(group, []) if isinstance(stored, dict) else []

    def _offer_widgets(self) -> None:
        field = cast("ChosenRows", self.fields["widgets"])
        field.offer(list(Widget.objects.filter(profile=self.profile).order_by("order", "pk")))
        self.initial["widgets"] = self.config.get("widgetIds", [])
        if not field.choices:
            del self.fields["widgets"]

    def config_values(self) -> dict[str, Any]:
        stored = self.config.get("skills", {})
        custom = stored.get("custom", []) if isinstance(stored, dict) else []
        return {
            **super().config_values(),
            "widgetIds": _chosen(self, "widgets", "widgetIds"),
            "skills": {**{group: self.cleaned_data[group] for group in SKILL_GROUPS}, "custom": custom},
            "skillsEnabled": self.cleaned_data["has_skills"],
            "skillsAlignment": self.cleaned_data["skills_alignment"],
        }


class ProjectsForm(SectionForm):
    hint = "Projects are written on the tab Projects; here you choose which ones this section shows."
    projects = ChosenRows(label="Projects in this section", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast("ChosenRows", self.fields["projects"])
        field.offer(list(Project.objects.filter(profile=self.profile).order_by("order", "pk")))
        self.initial["projects"] = self.config.get("projectIds", [])
        if not field.choices:
            del self.fields["projects"]

    def config_values(self) -> dict[str, Any]:
        return {"projectIds": _chosen(self, "projects", "projectIds")}


def _chosen(form: SectionForm, name: str, key: str) -> list[str]:
    field = form.fields.get(name)
    if not isinstance(field, ChosenRows):
        return []
    return field.in_order(form.cleaned_data[name], form.config.get(key, []))


class GalleryForm(SectionForm):
    hint = "Pictures are added on the tab Gallery: choose this section there."


class AudioPlayerForm(SectionForm):
    hint = "It plays what is on the tab Audios."


class CatalogueForm(SectionForm):
    hint = "Once the section is there, you choose what it lists."


FORMS: dict[str, type[SectionForm]] = {
    SectionType.ABOUT_ME: AboutMeForm,
    SectionType.PROJECTS: ProjectsForm,
    SectionType.CUSTOM_TEXT: TextSectionForm,
    SectionType.GALLERY: GalleryForm,
    SectionType.AUDIO_PLAYER: AudioPlayerForm,
    SectionType.GAMES: CatalogueForm,
    SectionType.ANIME: CatalogueForm,
    SectionType.MEDIA: CatalogueForm,
    SectionType.MUSIC: CatalogueForm,
}


class SkillForm(forms.Form):
    """A skill of one's own, with an icon."""

    label = forms.CharField(max_length=64, label="Skill")
    icon_name = forms.CharField(max_length=64, required=False, label="Name of an icon")
    icon_svg = forms.CharField(
        required=False,
        label="SVG",
        help_text="The code of a drawing, up to 20 KiB.",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )


class SearchForm(forms.Form):
    """Looks for a row of a catalogue by a part of its name."""

    q = forms.CharField(
        min_length=2,
        max_length=100,
        label="Name",
        help_text="At least two characters of it.",
        error_messages={"required": "Write what to look for."},
    )
