"""The public page of a profile: found by its name, made ready for the template, with what its visitor may do there."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from accounts.models import User
from lookup.documents import documents, queries, resolve
from lookup.documents.registry import DOCUMENT_COLUMNS
from lookup.documents.resolve import Parts, UserRow
from lookup.errors import UserNotFound
from lookup.models import CommentLike, FeedbackVote, Profile, ProfileBlock
from lookup.page import colors, people, presenters, sections, url_policy
from lookup.page.presenters import Badge, Card, Comment, Link, Picture
from lookup.page.sections import Material, Section
from lookup.shapes import settings_schema
from lookup.social import comments

MAX_COMMENTS = 20
MAX_SUMMARY = 200
EFFECTS = ("glow", "gradient", "rainbow")  # what a style sheet can do to a name; the others are shown plainly

Json = dict[str, Any]  # Any: a JSON value, as the read model holds it
_WHOLE = Parts(tuple(DOCUMENT_COLUMNS), has_counters=True, is_alias_profile=True)


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
    """`account`: `user` of the current lookup. `name`: as its address says. `chosen`: its settings objects. Empty texts
    and lists: none, or hidden."""

    user: UserRow
    account: Json
    name: str
    chosen: Json
    display_name: str
    handle: str
    description: str
    lines: list[str]
    location: str
    effect: str
    has_avatar: bool
    avatar: str
    banner: str
    backdrop: Picture | None
    badges: list[Badge]
    links: list[Link]
    sections: list[Section]
    figures: list[Figure]
    comments: list[Comment]
    has_more_comments: bool
    comment_count: Figure
    style: str
    is_grey: dict[str, bool]
    head: Head

    @property
    def initial(self) -> str:
        return self.display_name[:1].upper()

    @property
    def tint(self) -> int:
        """The user's colour for initial and banner; 0 where the owner has chosen colours."""
        return 0 if self.style else people.tint_of(self.user.id)

    @property
    def has_comments(self) -> bool:
        """The owner shows comments, and lets others write some."""
        return bool(self.chosen["commentsSettings"]["enabled"])

    @property
    def has_votes(self) -> bool:
        return bool(self.chosen["feedbackSettings"]["enabled"])

    @property
    def is_bare(self) -> bool:
        """The page is one narrow column: the card of the profile, and a place for the first comment."""
        return not self.sections and not self.comments

    @property
    def is_mirrored(self) -> bool:
        """Whether the avatar redirects to the chat platform."""
        return self.has_avatar and bool(self.chosen["avatarSettings"]["mirrorChat"])

    @property
    def since(self) -> datetime:
        return datetime.fromisoformat(self.account["createdAt"])


@dataclass(frozen=True)
class Viewer:
    """`vote`: whether they like the profile, None without a vote. `liked`: ids of comments. `here`: the path that forms
    lead back to."""

    id: str
    here: str
    is_owner: bool
    is_blocked: bool = False
    vote: bool | None = None
    liked: frozenset[str] = field(default_factory=frozenset)

    @property
    def may_write(self) -> bool:
        return not self.is_blocked


@dataclass(frozen=True)
class Elsewhere:
    """The name is an alias that sends its visitors to this one."""

    username: str


def find(name: str, now: datetime, *, number: int | None = 1) -> ProfilePage | Elsewhere:
    """The page that `name` shows. `number`: of the page of comments; None: without them. 1 query, 2 with comments, 3
    with replies. Raises UserNotFound, ProfilePrivate."""
    user = resolve.answer("username", name, _WHOLE, now)
    shown_name: str = user.account["username"]
    alias = next((one for one in json.loads(user.aliases) if one["name"].upper() == name.upper()), None)
    if alias is not None and shown_name.upper() != name.upper():
        if alias["redirect"]:
            return Elsewhere(shown_name)
        if alias["profileId"] is not None:
            shown_name = alias["name"]
    return _page(user, shown_name, number)


def preview(profile: Profile, now: datetime) -> ProfilePage:
    """The page as it would be with what `profile` holds in memory, saved or not, private or not; nothing is written.

    UserNotFound: it has been deleted meanwhile.
    """
    user = resolve.read("id", profile.user_id, _WHOLE, now)
    held = queries.load_profiles([profile.pk])
    if user is None or not held:
        raise UserNotFound
    held[0].profile, held[0].settings = profile, settings_schema.filled(profile.settings)
    columns = {name: str(value).encode() for name, value in documents.rendered(held[0]).items()}
    is_over = profile.user.plan_expires_at is not None and profile.user.plan_expires_at <= now
    texts = {include: columns[column] for include, column in DOCUMENT_COLUMNS.items()}
    user = user._replace(head=columns["lapsed_head" if is_over else "head"], texts=texts)
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
    account, found = user.account, {include: json.loads(user.texts[include]) for include in DOCUMENT_COLUMNS}
    profile, chosen = found["profile"], found["profile"]["settings"]
    typewriter = chosen["typewriterSettings"]
    has_avatar = chosen["avatarSettings"]["enabled"]
    display_name = profile["displayName"] or account["name"] or account["username"]
    effect = chosen["usernameSettings"]["effect"]
    material = Material(chosen, found["projects"], found["widgets"], found["audios"], found["gallery"])
    backdrops = (presenters.picture(one["asset"]) for one in found["backgrounds"])
    has_comments = number is not None and user.comments and chosen["commentsSettings"]["enabled"]
    shown, has_more = _comments(user, number or 1) if has_comments else ([], False)
    return ProfilePage(
        user=user,
        account=account,
        name=name,
        chosen=chosen,
        display_name=display_name,
        handle=f"@{name}" if chosen["usernameSettings"]["enabled"] else "",
        description=profile["description"].strip(),
        lines=typewriter["descriptions"] if typewriter["enabled"] else [],
        location=profile["location"],
        effect=effect if effect in EFFECTS else "",
        has_avatar=has_avatar,
        avatar=presenters.avatar(profile["avatar"], user.id) if has_avatar else "",
        banner=presenters.image(profile["banner"]),
        backdrop=next((one for one in backdrops if one is not None), None),
        badges=presenters.badges(found["badges"]),
        links=presenters.links(found["links"], name) if chosen["linksSettings"]["enabled"] else [],
        sections=sections.shown(found["sections"], material),
        figures=_figures(user, chosen),
        comments=shown,
        has_more_comments=has_more,
        comment_count=Figure(user.comments, "comment", "comments"),
        style=colors.address(chosen),
        is_grey={key: chosen[f"{key}Settings"]["monochrome"] for key in ("badges", "links")},
        head=_head(name, display_name, profile),
    )


def _figures(user: UserRow, chosen: dict[str, Json]) -> list[Figure]:
    """Return the figures that the owner shows and that are not 0."""
    figures = [Figure(user.views, "view", "views")] if chosen["viewsSettings"]["enabled"] else []
    if chosen["feedbackSettings"]["enabled"]:
        figures += [Figure(user.likes, "like", "likes"), Figure(user.dislikes, "dislike", "dislikes")]
    return [figure for figure in figures if figure.count]


def _comments(user: UserRow, number: int) -> tuple[list[Comment], bool]:
    """A page of the comments, with their first replies, and whether more follow. 1 query, 2 with replies."""
    rows = resolve.read_comments_page(user.id, limit=MAX_COMMENTS + 1, offset=(number - 1) * MAX_COMMENTS)
    shown = rows[:MAX_COMMENTS]
    return presenters.comments(shown, comments.first_replies(shown)), len(rows) > MAX_COMMENTS


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
    ids = [one.id for comment in page.comments for one in (comment, *comment.replies)]
    votes = FeedbackVote.objects.filter(user=owner_id, voter=viewer.pk) if has_vote else FeedbackVote.objects.none()
    likes = CommentLike.objects.filter(user=viewer.pk, comment__in=ids) if ids else CommentLike.objects.none()
    return Viewer(
        id=viewer.pk,
        here=here,
        is_owner=is_owner,
        is_blocked=not is_owner and ProfileBlock.objects.filter(user=owner_id, blocked=viewer.pk).exists(),
        vote=None if is_owner else votes.values_list("is_like", flat=True).first(),
        liked=frozenset(likes.values_list("comment", flat=True)),
    )
