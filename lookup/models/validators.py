"""Validators of columns of profiles."""

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator, validate_email

from infrastructure.text_rules import validate_web_address
from lookup.shapes.strict_fields import TextList
from lookup.shapes.svg import svg_problems

TAGS = TextList(max_items=20, max_length=40, min_length=1)
validate_color = RegexValidator(
    r"\A#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})\Z", "Use a color such as #1b5e4b."
)
validate_file_name = RegexValidator(r"\A[A-Za-z0-9_-][A-Za-z0-9._-]*\Z", "Use the name of a file.")


def validate_svg(value: str) -> None:
    """Raise ValidationError for an SVG that could do more than be drawn."""
    problems = svg_problems(value)
    if problems:
        raise ValidationError(problems)


def validate_tags(value: object) -> None:
    """Raise ValidationError for what is no list of tags."""
    if problem := TAGS.problem_of(value):
        raise ValidationError(problem)


def validate_target(url: str) -> None:
    """Raise ValidationError for what is neither a web address nor `mailto:` and an email address."""
    scheme, _, address = url.partition(":")
    if scheme.lower() == "mailto":
        validate_email(address)
    else:
        validate_web_address(url)
