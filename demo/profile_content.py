"""The profiles of the demo users: ada shows something in every field, cleo a little, ben nothing, and the operator has
switched off what can be.

Filled once: a profile with anything on it is left as it is.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.core.management import call_command
from django.utils import timezone

from accounts.models import LinkedAccount, Name, User
from accounts.models.users import new_id
from demo import invented
from demo.invented import seeded
from demo.population import awards, growth, page_sections, people, profile_pages
from demo.population.people import LATEST
from demo.population.profile_pages import Page, Rows
from lookup import leaderboards
from lookup.documents import counters, documents
from lookup.editing import aliases, badge_tiers, profiles
from lookup.models import (
    Audio,
    Background,
    Comment,
    CommentLike,
    CustomBadge,
    FeedbackVote,
    GalleryItem,
    LeaderboardEntry,
    Link,
    Profile,
    ProfileBadge,
    Project,
    Section,
    UserDocument,
    Widget,
)
from lookup.shapes import addresses, sections, settings_schema
from lookup.shapes.sections import SectionType

MEMBERS, SEED = 40, 1  # of the population
showcase = invented.load("showcase")
People = dict[str, User]


def furnish(keeper: User, ada: User, ben: User, cleo: User) -> None:
    """Make the population and fill the profiles, where that is still to be done. The caller holds the transaction.

    The leaderboards are ranked before ada and cleo get what they have, and after it by the job, whose next turn is an
    interval later: until then they show who moved.
    """
    growth.grow(users=MEMBERS, seed=SEED, now=timezone.now())
    is_new = not LeaderboardEntry.objects.exists()
    if is_new:
        leaderboards.rank()
    _fill(keeper, ada, ben, cleo)
    if is_new:
        call_command("rank_leaderboards", stdout=io.StringIO())


def _fill(keeper: User, ada: User, ben: User, cleo: User) -> None:
    _refresh_chat_pictures()
    if (profile := _untouched(keeper)) is not None:
        values = {**showcase.KEEPER_TEXTS, "settings": showcase.KEEPER_SETTINGS}
        profiles.change(profile=profile, values=values, by=None)
    if (profile := _untouched(cleo)) is not None:
        _fill_cleo(profile)
    if (profile := _untouched(ada)) is not None:
        _fill_ada(profile)
        _add_aliases(ada)
        if not Comment.objects.filter(user=ada).exists() and not FeedbackVote.objects.filter(user=ada).exists():
            _talk_about(ada, {"ada": ada, "ben": ben, "cleo": cleo})
        _unlock(profile)


def chat_picture(external_id: str) -> str:
    """Return the URL of a demo user's chat picture, which this service delivers."""
    name = showcase.CHAT_PICTURES.get(external_id)
    return addresses.upload(f"demo/{name}.svg") if name else ""


def _refresh_chat_pictures() -> None:
    """Update the URLs of the pictures: the service may have another address than at the last start."""
    for external_id in showcase.CHAT_PICTURES:
        linked = LinkedAccount.objects.filter(kind=LinkedAccount.Kind.CHAT, external_id=external_id)
        url = chat_picture(external_id)
        linked.filter(avatar_url__contains="/demo/avatar-").exclude(avatar_url=url).update(avatar_url=url)


def _untouched(user: User) -> Profile | None:
    """Return the main profile while it is empty."""
    lists = ("links", "sections", "badges", "custom_badges", "widgets", "audios", "backgrounds", "projects", "gallery")
    bare = Profile.objects.filter(user=user, is_main=True, description="", **dict.fromkeys(lists))
    return bare.select_related("user").first()


def _page(profile: Profile) -> Page:
    """Begin to fill a profile. Its ids are new each time: an emptied profile may have kept its files."""
    return Page(profile, profile.user.username, seeded(new_id()), Rows())


def _save(page: Page) -> None:
    """Insert the rows, then save the profile, which names assets among them, and render the documents."""
    page.profile.updated_at = timezone.now()
    page.rows.insert()
    page.profile.save()
    documents.rebuild(page.profile.pk)


def _set(profile: Profile, values: dict[str, Any]) -> None:
    for column, value in values.items():
        setattr(profile, column, value)


def _fill_cleo(profile: Profile) -> None:
    page = _page(profile)
    _set(profile, showcase.CLEO_TEXTS)
    profile_pages.dress(profile, showcase.CLEO_TEXTS["theme"], showcase.CLEO_SETTINGS)
    profile.banner, profile.metadata_banner = page.picture("banner-4"), page.picture("card-4")
    page.rows.add(Link(profile=profile, title="Music", url="https://music.example/cleo", platform_id="music"))
    page.rows.add(Background(profile=profile, title="Pines", asset=page.picture("background-2"), is_active=False))
    page.rows.add(ProfileBadge(profile=profile, badge_id="premium", obtained_at=profile.created_at))
    about = sections.validated(SectionType.ABOUT_ME, showcase.CLEO_ABOUT)
    page.rows.add(Section(profile=profile, type=SectionType.ABOUT_ME, title="About me", config=about))
    _save(page)


def _fill_ada(profile: Profile) -> None:
    page = _page(profile)
    _set(profile, showcase.TEXTS)
    profile.settings = settings_schema.validated(showcase.SETTINGS)
    for column, name in showcase.PROFILE_PICTURES.items():
        setattr(profile, column, page.picture(name))
    for column in ("sound_effect_asset", "sound_effect_button_asset"):
        setattr(profile, column, page.sound("click"))
    for column in ("font_asset", "font_username_asset"):
        setattr(profile, column, page.file(showcase.FONT, "font/woff"))
    _add_badges(page)
    _add_lists(page)
    _add_sections(page)
    _save(page)


def _add_badges(page: Page) -> None:
    """Add the badges of staff, and three custom ones, one of them disabled."""
    for order, (badge_id, tiers) in enumerate(showcase.GIVEN_BADGES):
        given = ProfileBadge(profile=page.profile, badge_id=badge_id, order=order, obtained_at=LATEST)
        given.color, given.recolor = ("", False) if tiers else (showcase.GOLD, True)
        given.unlocked_tiers, given.selected_tier = list(range(1, tiers + 1)), tiers or None
        page.rows.add(given)
    own = {"profile": page.profile, "created_at": LATEST, "color": showcase.EMBER, "recolor": True}
    page.rows.add(
        CustomBadge(name="Tea at four", icon_svg=showcase.HEART, order=10, **own),
        CustomBadge(name="Map maker", image=page.picture("link-3"), order=11, **own),
        CustomBadge(name="Night owl", icon_svg=showcase.HOUSE, order=12, is_enabled=False, **own),
    )


def _add_lists(page: Page) -> None:
    profile, rows = page.profile, page.rows
    for order, link in enumerate(showcase.LINKS):
        icon = {"icon": page.picture(link["icon"])} if "icon" in link else {}
        kind = "profile" if "platform_id" in link else ""
        rows.add(Link(**{**link, "profile": profile, "order": order, "platform_type": kind, **icon}))
    for order, (title, artist, tone, cover, is_active) in enumerate(showcase.AUDIOS):
        audio = Audio(profile=profile, title=title, artist=artist, order=order, audio=page.sound(tone))
        audio.is_active = is_active
        audio.cover, audio.external_url = page.picture(cover), f"https://music.example/ada/{order + 1}"
        rows.add(audio)
    for order, (title, picture) in enumerate(showcase.BACKGROUNDS):
        rows.add(Background(profile=profile, title=title, asset=page.picture(picture), order=order))


def _add_sections(page: Page) -> None:
    """Add one section of each type, with its widgets and projects."""
    widgets = [
        Widget(profile=page.profile, platform=platform, type=type_, identifier=identifier, order=order)
        for order, (platform, type_, identifier) in enumerate(showcase.WIDGETS)
    ]
    projects = [_project(page, values, order) for order, values in enumerate(showcase.PROJECTS)]
    page.rows.add(*widgets, *projects)
    configs = _section_configs([widget.id for widget in widgets], [project.id for project in projects])
    for order, type_ in enumerate(SectionType):
        title, description, alignment = showcase.SECTIONS[type_]
        section = Section(profile=page.profile, type=type_, order=order, title=title, description=description)
        section.alignment, section.config = alignment, sections.validated(type_, configs.get(type_, {}))
        page.rows.add(section)
        if type_ is SectionType.GALLERY:
            page.rows.extend(_pictures(page, section))


def _section_configs(widget_ids: list[str], project_ids: list[str]) -> dict[SectionType, dict[str, Any]]:
    return {
        SectionType.ABOUT_ME: {
            "content": showcase.ABOUT,
            "widgetIds": widget_ids,
            "skills": showcase.SKILLS,
            "skillsEnabled": True,
            "skillsAlignment": "center",
        },
        SectionType.PROJECTS: {"projectIds": project_ids},
        SectionType.CUSTOM_TEXT: {"content": showcase.NOW},
        SectionType.GAMES: {"gameIds": list(page_sections.GAME_IDS)},
        SectionType.ANIME: {"animeIds": list(page_sections.ANIME_IDS)},
        SectionType.MEDIA: {"mediaIds": list(page_sections.MEDIA_IDS)},
        SectionType.MUSIC: {"music": [{"kind": kind, "musicId": key} for kind, key in page_sections.MUSIC_KEYS]},
    }


def _project(page: Page, values: dict[str, Any], order: int) -> Project:
    icon = page.picture(values["icon"]) if "icon" in values else None
    return Project(**{**values, "profile": page.profile, "order": order, "icon": icon})


def _pictures(page: Page, section: Section) -> Iterator[GalleryItem]:
    for order, (name, caption, width) in enumerate((*showcase.PICTURES, showcase.LOOSE_PICTURE)):
        within = section if name != showcase.LOOSE_PICTURE[0] else None
        yield GalleryItem(
            profile=page.profile,
            section=within,
            asset=page.picture(name),
            caption=caption,
            width=width,
            order=order,
        )


def _add_aliases(ada: User) -> None:
    """Add an alias that leads to her username, and one with a profile of its own, where these names are free."""
    for name, has_own_profile in ((showcase.REDIRECTING_ALIAS, False), (showcase.OWN_ALIAS, True)):
        if Name.objects.by_name(name).exists():
            continue
        redirects = not has_own_profile
        alias = aliases.add(user=ada, name=name, redirects=redirects, has_own_profile=has_own_profile, by=None)
        if alias.profile is not None:
            _fill_maps(alias.profile)


def _fill_maps(profile: Profile) -> None:
    """Add a little of everything to the profile of an alias."""
    page = _page(profile)
    _set(profile, showcase.MAPS_TEXTS)
    profile.settings = settings_schema.validated(showcase.MAPS_SETTINGS)
    profile.avatar, profile.banner = page.picture("avatar-7"), page.picture("banner-5")
    profile.metadata_banner = page.picture("card-5")
    profile_pages.add_links(page, 3, 3)
    profile_pages.add_audios(page, 1, is_shown=True)
    profile_pages.add_backgrounds(page, 1)
    widgets, projects = profile_pages.add_widgets(page, 2), profile_pages.add_projects(page, 2, 2)
    types = (SectionType.ABOUT_ME, SectionType.PROJECTS, SectionType.GALLERY)
    page_sections.add_sections(page, types, widgets=widgets, projects=projects, is_shown=True)
    page_sections.add_pictures(page, None, 2)
    page.rows.add(ProfileBadge(profile=profile, badge_id="artist", obtained_at=LATEST))
    awards.add_custom(page, order=1)
    _save(page)


def _talk_about(ada: User, friends: People) -> None:
    """Add votes, comments, replies and likes, by the demo users and the population."""
    members = _members()
    rows, at = Rows(), people.LATEST - timedelta(days=60)
    voters = [friends["ben"], friends["cleo"], *members[: showcase.LIKED_BY + showcase.DISLIKED_BY]]
    for place, voter in enumerate(voters):
        is_like = place < showcase.LIKED_BY + 2
        rows.add(FeedbackVote(user=ada, voter=voter, is_like=is_like, created_at=at + timedelta(hours=place)))
    for place, (author, content, likes, replies) in enumerate(reversed(showcase.COMMENTS)):
        written_at = at + timedelta(days=5 * place, minutes=17 * place)
        comment = Comment(user=ada, author=_author(author, friends, members), content=content, created_at=written_at)
        comment.is_pinned = place == len(showcase.COMMENTS) - 1
        rows.add(comment)
        for liker in members[place : place + likes]:
            rows.add(CommentLike(comment=comment, user=liker, created_at=written_at + timedelta(hours=2)))
        for minutes, (answering, answer) in enumerate(replies, start=40):
            reply = Comment(user=ada, author=_author(answering, friends, members), parent=comment, content=answer)
            reply.created_at = written_at + timedelta(minutes=minutes)
            rows.add(reply, CommentLike(comment=reply, user=friends["cleo"], created_at=reply.created_at))
    rows.insert()
    counters.recount_comments(Comment.objects.filter(user=ada).values_list("pk", flat=True))
    counters.recount([ada.pk])
    UserDocument.objects.filter(pk=ada.pk).update(views=showcase.VIEWS)


def _unlock(profile: Profile) -> None:
    """Unlock the badges that her counters have reached, and show the highest tier."""
    badge_tiers.unlock()
    for badge in ProfileBadge.objects.filter(profile=profile).exclude(badge__rule="").exclude(unlocked_tiers=[]):
        badge.selected_tier = badge.unlocked_tiers[-1]
        badge.save(update_fields=["selected_tier"])
    profiles.touch(profile.pk)


def _members() -> list[User]:
    """Return the population in the order of its numbers."""
    found = User.objects.in_bulk([people.user_id(SEED, number) for number in range(MEMBERS)])
    return sorted(found.values(), key=lambda user: user.uid)


def _author(who: str | int, friends: People, members: list[User]) -> User:
    return friends[who] if isinstance(who, str) else members[who % len(members)]
