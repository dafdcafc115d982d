"""The public page of a profile: found by its name, made ready for the template, with what its visitor may do there."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from hashlib import blake2b
from typing import Any

from django.conf import settings
from django.db.models import Model
from django.urls import reverse
from django.utils.safestring import SafeString

from accounts.models import User
from infrastructure.requests import kept_html
from lookup.documents import documents, queries, resolve
from lookup.documents.registry import DOCUMENT_COLUMNS
from lookup.documents.resolve import Parts, UserRow
from lookup.errors import UserNotFound
from lookup.models import CommentLike, FeedbackVote, Profile, ProfileBlock
from lookup.page import colors, embeds, people, presenters, sections, structured_data, url_policy
from lookup.page.presenters import Badge, Card, Comment, Link, Picture
from lookup.page.sections import Material, Section
from lookup.serializers.rows import CommentRow
from lookup.shapes import settings_schema

MAX_COMMENTS = 20
PREVIEWED = 3  # replies below a comment in a list
MAX_SUMMARY = 200
EFFECTS = ("glow", "gradient", "rainbow")  # what a style sheet can do to a name; the others are shown plainly

Json = dict[str, Any]  # Any: a JSON value, as the read model holds it
_WHOLE = Parts(tuple(DOCUMENT_COLUMNS), has_counters=True, is_alias_profile=True, has_own_links=True)


@dataclass(frozen=True)
class Figure:
    """A number that visitors make, with its caption for one and for any other number."""

    count: int
    one: str
    many: str

    @property
    def caption(self) -> str:
        return self.one if self.count == 1 else self.many

    @property
    def text(self) -> str:
        """With thousands apart."""
        return f"{self.count:,}"


@dataclass(frozen=True)
class Step:
    """What an owner adds to a new page. `url_name`: of the page of the editor for it."""

    words: str
    url_name: str
    is_done: bool


FEW = 2  # steps that are done: from then on a page speaks for itself


@dataclass(frozen=True)
class Head:
    """The metadata for search engines and messengers, with absolute URLs."""

    title: str
    summary: str
    canonical: str
    image: Card | None
    is_wide: bool  # the image
    color: str
    favicon: str


@dataclass(frozen=True)
class ProfilePage:
    """`user`: with all texts of the document. `name`: as its address says. Empty texts and lists: none, or hidden.

    Each part of the document is read where a template shows it: most of a page is kept as HTML under `digest`.
    """

    user: UserRow
    name: str
    comment_rows: Sequence[CommentRow] = ()
    replies: Mapping[str, list[CommentRow]] = field(default_factory=dict)
    has_more_comments: bool = False

    @cached_property
    def digest(self) -> str:
        """Name all that the page shows, except counts, comments and presence."""
        parts = (self.name.encode(), self.user.head or b"", self.user.own_links, *self.user.texts.values())
        return blake2b(b"\0".join(parts), digest_size=16).hexdigest()

    @cached_property
    def comments_digest(self) -> str:
        """Name the comments as they are shown on this page."""
        return kept_html.digest(self.name, self.user.id, self.comment_rows, self.replies)

    def _read(self, include: str) -> Any:  # a JSON value
        return json.loads(self.user.texts[include])

    @cached_property
    def account(self) -> Json:
        """Return `user` of the current lookup."""
        return self.user.account

    @cached_property
    def profile(self) -> Json:
        found: Json = self._read("profile")
        return found

    @property
    def chosen(self) -> Json:
        """Return the settings objects."""
        found: Json = self.profile["settings"]
        return found

    @property
    def display_name(self) -> str:
        return str(self.profile["displayName"] or self.account["name"] or self.account["username"])

    @property
    def direction(self) -> str:
        """Return "rtl" where the display name is written from right to left, else "ltr": the profile is laid out so."""
        strong = (unicodedata.bidirectional(char) for char in self.display_name)
        return "rtl" if next((kind for kind in strong if kind in {"L", "R", "AL"}), "L") != "L" else "ltr"

    @property
    def initial(self) -> str:
        return self.display_name[:1].upper()

    @property
    def handle(self) -> str:
        return f"@{self.name}" if self.chosen["usernameSettings"]["enabled"] else ""

    @property
    def effect(self) -> str:
        effect: str = self.chosen["usernameSettings"]["effect"]
        return effect if effect in EFFECTS else ""

    @property
    def description(self) -> str:
        return str(self.profile["description"]).strip()

    @property
    def location(self) -> str:
        return str(self.profile["location"])

    @property
    def lines(self) -> list[str]:
        chosen = self.chosen["typewriterSettings"]
        return list(chosen["descriptions"]) if chosen["enabled"] else []

    @property
    def since(self) -> datetime:
        return datetime.fromisoformat(self.account["createdAt"])

    @property
    def has_avatar(self) -> bool:
        return bool(self.chosen["avatarSettings"]["enabled"])

    @property
    def avatar(self) -> str:
        return presenters.avatar(self.profile["avatar"], self.user.id) if self.has_avatar else ""

    @property
    def is_mirrored(self) -> bool:
        """Whether the avatar redirects to the chat platform."""
        return self.has_avatar and bool(self.chosen["avatarSettings"]["mirrorChat"])

    @property
    def banner(self) -> str:
        return presenters.image(self.profile["banner"])

    @property
    def backdrop(self) -> Picture | None:
        shown = (presenters.picture(one["asset"]) for one in self._read("backgrounds"))
        return next((one for one in shown if one is not None), None)

    @property
    def badges(self) -> list[Badge]:
        return presenters.badges(self._read("badges"))

    @property
    def links(self) -> list[Link]:
        if not self.chosen["linksSettings"]["enabled"]:
            return []
        return presenters.links(self._read("links"), self.name, own=frozenset(json.loads(self.user.own_links)))

    @property
    def is_grey(self) -> dict[str, bool]:
        return {key: self.chosen[f"{key}Settings"]["monochrome"] for key in ("badges", "links")}

    @property
    def sections(self) -> list[Section]:
        lists = (self._read(include) for include in ("projects", "widgets", "audios", "gallery"))
        return sections.shown(self._read("sections"), Material(self.chosen, *lists))

    @cached_property
    def first_steps(self) -> list[Step]:
        """Return the first steps of the main profile, done or not; none once FEW of them are done."""
        steps = [
            Step("Add a picture", "profile_media", is_done=bool(self.profile["avatar"]) or self.is_mirrored),
            Step("Say something about yourself", "profile_editor", is_done=bool(self.description)),
            Step("Add a link", "profile_links_add", is_done=bool(self._read("links"))),
        ]
        is_main = self.name == self.account["username"]
        return steps if is_main and sum(step.is_done for step in steps) < FEW else []

    @property
    def is_blank(self) -> bool:
        """Whether the page shows nothing that its owner has added, except a picture or a location."""
        return not (self.description or self.lines or self.links or self.sections or self.badges)

    @cached_property
    def style(self) -> str:
        profile = self.profile
        return colors.address(self.chosen, font=profile["font"], font_username=profile["fontUsername"])

    @property
    def tint(self) -> int:
        """The user's color for initial and banner; 0 where the owner has chosen colors."""
        return 0 if colors.has_own(self.chosen) else people.tint_of(self.user.id)

    @cached_property
    def head(self) -> Head:
        return _head(self.name, self.display_name, self.profile)

    @property
    def oembed(self) -> str:
        return embeds.oembed_address(self.head.canonical)

    @property
    def structured_data(self) -> SafeString:
        """Return the page for search engines, with the links that the owner marks."""
        person = {
            "url": self.head.canonical,
            "name": self.display_name,
            "alternateName": self.name,
            "identifier": str(self.account["uid"]),
            "description": self.head.summary,
            "image": self.head.image.url if self.head.image else "",
            "sameAs": [link.url for link in self.links if link.is_own],
        }
        return structured_data.profile_page(person, self.since)

    @cached_property
    def figures(self) -> list[Figure]:
        """Return the figures that the owner shows and that are not 0."""
        user = self.user
        figures = [Figure(user.views, "view", "views")] if self.chosen["viewsSettings"]["enabled"] else []
        if self.has_votes:
            figures += [Figure(user.likes, "like", "likes"), Figure(user.dislikes, "dislike", "dislikes")]
        return [figure for figure in figures if figure.count]

    @cached_property
    def comments(self) -> list[Comment]:
        return presenters.comments(self.comment_rows, self.replies)

    @property
    def comment_count(self) -> Figure:
        return Figure(self.user.comments, "comment", "comments")

    @property
    def has_comments(self) -> bool:
        """The owner shows comments, and lets others write some."""
        return bool(self.chosen["commentsSettings"]["enabled"])

    @property
    def has_votes(self) -> bool:
        return bool(self.chosen["feedbackSettings"]["enabled"])


@dataclass(frozen=True)
class Viewer:
    """`vote`: whether they like the profile, None without a vote. `liked`: ids of comments. `here`: the path that forms
    lead back to. `digest` names what comments show of the viewer."""

    id: str
    here: str
    is_owner: bool
    is_blocked: bool = False
    vote: bool | None = None
    liked: frozenset[str] = field(default_factory=frozenset)
    digest: str = ""

    @property
    def may_write(self) -> bool:
        return not self.is_blocked


@dataclass(frozen=True)
class Elsewhere:
    """The name is an alias that sends its visitors to this one."""

    username: str


def find(name: str, now: datetime, *, number: int | None = 1) -> ProfilePage | Elsewhere:
    """The page that `name` shows. `number`: of the page of comments; None: without them. 1 query, 2 with comments.
    Raises UserNotFound, ProfilePrivate."""
    user = resolve.answer("username", name, _WHOLE, now)
    shown = place_of(user, name)
    return shown if isinstance(shown, Elsewhere) else _page(user, shown, number)


def place_of(user: UserRow, name: str) -> Elsewhere | str:
    """Return where the page of `name` leads, or the name that it shows. `user`: read with counters, by `name`."""
    username: str = user.account["username"]
    alias = next((one for one in json.loads(user.aliases) if one["name"].upper() == name.upper()), None)
    if alias is None or username.upper() == name.upper():
        return username
    if alias["redirect"]:
        return Elsewhere(username)
    return username if alias["profileId"] is None else str(alias["name"])


def preview(profile: Profile, now: datetime, *, row: Model | None = None) -> ProfilePage:
    """Return the page as it would be with what `profile` holds in memory, saved or not, private or not. `row`: of one
    of its lists, in place of the stored one or at the end. Nothing is written.

    Raises UserNotFound: it has been deleted.
    """
    user = resolve.read("id", profile.user_id, _WHOLE, now)
    held = queries.load_profiles([profile.pk], typed=row)
    if user is None or not held:
        raise UserNotFound
    held[0].profile, held[0].settings = profile, settings_schema.filled(profile.settings)
    columns = {name: str(value).encode() for name, value in documents.rendered(held[0]).items()}
    is_over = profile.user.plan_expires_at is not None and profile.user.plan_expires_at <= now
    texts = {include: columns[column] for include, column in DOCUMENT_COLUMNS.items()}
    head = columns["lapsed_head" if is_over else "head"]
    user = user._replace(head=head, texts=texts, own_links=columns["own_links"])
    return _page(user, profile.user.username if profile.is_main else profile.alias.name.name)


def link_of(name: str, link_id: str, now: datetime) -> tuple[UserRow, str]:
    """The owner and the URL of a link that the page of `name` shows. 1 query.

    Raises UserNotFound, ProfilePrivate.
    """
    user = resolve.answer("username", name, Parts(("links",), is_alias_profile=True), now)
    for link in json.loads(user.texts["links"]):
        if link["id"] == link_id and not link["isText"] and (url := url_policy.outside(link["url"], url_policy.LINKS)):
            return user, url
    raise UserNotFound


def _page(user: UserRow, name: str, number: int | None = 1) -> ProfilePage:
    """Return the page, with its comments if it shows some. 1 query for these."""
    page = ProfilePage(user, name)
    if number is None or not user.comments or not page.has_comments:
        return page
    offset = (number - 1) * MAX_COMMENTS
    rows, replies = resolve.read_comments_page(user.id, limit=MAX_COMMENTS + 1, offset=offset, replies=PREVIEWED)
    shown = rows[:MAX_COMMENTS]
    replies = {row.id: replies[row.id] for row in shown if row.id in replies}
    return replace(page, comment_rows=shown, replies=replies, has_more_comments=len(rows) > MAX_COMMENTS)


def _head(name: str, display_name: str, profile: Json) -> Head:
    said = profile["settings"]["metadataSettings"]
    wide = presenters.card(profile["metadataBanner"]) or presenters.card(profile["banner"])
    summary = " ".join((said["description"] or profile["description"]).split())
    if len(summary) > MAX_SUMMARY:
        summary = f"{summary[: MAX_SUMMARY - 1].rstrip()}…"
    return Head(
        title=said["title"] or (f"{display_name} (@{name})" if display_name != name else name),
        summary=summary or f"{display_name} on {settings.SITE_NAME}.",
        canonical=f"{settings.BASE_URL}{reverse('profile_page', args=[name])}",
        image=wide or presenters.card(profile["avatar"]),
        is_wide=bool(wide),
        color=said["color"],
        favicon=presenters.image(profile["metadataFavicon"]),
    )


def viewer_of(page: ProfilePage, viewer: User, here: str, *, has_vote: bool = False) -> Viewer:
    """Return the viewer of a page. `has_vote`: the page shows their vote. At most 3 queries; 1 for the owner."""
    owner_id = page.user.id
    is_owner = viewer.pk == owner_id
    rows = [*page.comment_rows, *itertools.chain.from_iterable(page.replies.values())]
    votes = FeedbackVote.objects.filter(user=owner_id, voter=viewer.pk) if has_vote else FeedbackVote.objects.none()
    likes = CommentLike.objects.filter(user=viewer.pk, comment__in=[row.id for row in rows])
    found = Viewer(
        id=viewer.pk,
        here=here,
        is_owner=is_owner,
        is_blocked=not is_owner and ProfileBlock.objects.filter(user=owner_id, blocked=viewer.pk).exists(),
        vote=None if is_owner else votes.values_list("is_like", flat=True).first(),
        liked=frozenset(likes.values_list("comment", flat=True)) if rows else frozenset(),
    )
    author = viewer.pk if any(row.author_id == viewer.pk for row in rows) else ""
    shown = (author, here, is_owner, found.is_blocked, sorted(found.liked))
    return replace(found, digest=kept_html.digest(shown))
