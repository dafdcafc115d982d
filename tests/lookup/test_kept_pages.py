"""Profile pages are kept as HTML: each change shows at once, and everybody gets their own parts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template import engines
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import Settings

from accounts import bans
from accounts.linking import account_links
from accounts.models import LinkedAccount, User
from config import data_stores
from infrastructure.requests import kept_html
from lookup import visits
from lookup.models import Badge, Comment, Link, Project, UserDocument
from lookup.social import comments, feedback
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import NOT_KEPT, change, filled, html_of
from tests.lookup.visiting import visit
from tests.pages.markup import page_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def ada(module_db: None) -> User:
    """With something of everything; what a test changes is rolled back."""
    return filled(settings={"typewriterSettings": {"enabled": True, "descriptions": ["One line"]}})


@pytest.fixture
def guest(ada: User) -> User:
    return User.objects.get(username="Guest0")


def client_of(user: User | None = None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def html(client: Client | None = None) -> str:
    return html_of(client or Client(), "/Ada")


def first(model: type[Link] | type[Project], **values: object) -> Callable[[User], object]:
    def act(ada: User) -> None:
        model.objects.filter(pk=model.objects.filter(profile__user=ada).order_by("pk")[:1].get().pk).update(**values)
        make.shown(ada)

    return act


def setting(**chosen: dict[str, object]) -> Callable[[User], object]:
    return lambda ada: change(ada, settings=chosen)


def _badge(ada: User) -> None:
    make.CustomBadgeFactory(profile=make.main_profile(ada), name="New badge")
    make.shown(ada)


def _catalogue(ada: User) -> None:
    Badge.objects.get(pk="views").tiers.filter(tier=2).update(title="Well known")
    make.shown(ada)


def _section(ada: User) -> None:
    make.SectionFactory(profile=make.main_profile(ada), config={"content": "A new text"})
    make.shown(ada)


def _picture(ada: User) -> None:
    change(ada, avatar=make.AssetFactory(owner=ada, path="files/other.png"))


def _chat(ada: User) -> None:
    account_links.link(user=ada, kind=LinkedAccount.Kind.CHAT, external_id="1", name="ada", by=None)
    change(ada, settings={"avatarSettings": {"mirrorChat": True}})


def _comment(act: Callable[[Comment, User, User], object]) -> Callable[[User], object]:
    def run(ada: User) -> None:
        guest = User.objects.get(username="Guest0")
        act(Comment.objects.get(user=ada, author=guest), ada, guest)

    return run


CHANGES: dict[str, Callable[[User], object]] = {
    "text": lambda ada: change(ada, description="Something else"),
    "display name of the profile": lambda ada: change(ada, display_name="Countess"),
    "no display name of the profile": lambda ada: change(ada, display_name=""),
    "case of the name": lambda ada: User.objects.filter(pk=ada.pk).update(username="ADA"),
    "verified": lambda ada: User.objects.filter(pk=ada.pk).update(is_verified=False),
    "plan": lambda ada: User.objects.filter(pk=ada.pk).update(plan="FREE"),
    "plan that has ended": lambda ada: User.objects.filter(pk=ada.pk).update(
        plan_expires_at=timezone.now() - timedelta(seconds=1)
    ),
    "avatar": _picture,
    "mirrored avatar": _chat,
    "colors": setting(colorsSettings={"accentColor": "#123456"}),
    "title": setting(metadataSettings={"title": "My own title"}),
    "typewriter": setting(typewriterSettings={"enabled": True, "descriptions": ["Another"]}),
    "links off": setting(linksSettings={"enabled": False}),
    "comments off": setting(commentsSettings={"enabled": False}),
    "votes off": setting(feedbackSettings={"enabled": False}),
    "link": first(Link, title="Changed"),
    "project": first(Project, title="Changed"),
    "badge": _badge,
    "tier of the catalogue": _catalogue,
    "section": _section,
    "views": lambda ada: UserDocument.objects.filter(pk=ada.pk).update(views=7),
    "vote": lambda ada: feedback.vote(user=ada, is_like=False, by=UserFactory()),
    "comment": lambda ada: comments.write(user=ada, content="A new one", by=UserFactory()),
    "reply": _comment(lambda comment, ada, _: comments.write(user=ada, content="Yes", parent=comment, by=ada)),
    "like": _comment(lambda comment, ada, _: comments.like(comment=comment, by=ada)),
    "pin": _comment(lambda comment, ada, _: comments.pin(comment=comment, is_pinned=True, by=ada)),
    "deletion": _comment(lambda comment, _, guest: comments.delete(comment=comment, by=guest)),
    "picture of an author": _comment(
        lambda _, ada, guest: change(guest, avatar=make.AssetFactory(owner=guest, path="files/guest.png"))
    ),
    "name of an author": _comment(lambda _, ada, guest: User.objects.filter(pk=guest.pk).update(username="Renamed")),
    "display name of an author": _comment(
        lambda _, ada, guest: User.objects.filter(pk=guest.pk).update(display_name="G")
    ),
    "ban of an author": _comment(lambda _, ada, guest: bans.ban(user=guest, by=None, reason="spam")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_shows_at_once_to_everybody(ada: User, guest: User, settings: Settings, name: str) -> None:
    member = UserFactory()
    clients = [client_of(), client_of(member), client_of(ada)]
    before = [html(client) for client in clients]
    etag = Client().get("/Ada").headers["ETag"]
    assert Client().get("/Ada", headers={"If-None-Match": etag}).status_code == 304
    CHANGES[name](ada)
    after = [html(client) for client in clients]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False] * 3
    assert Client().get("/Ada", headers={"If-None-Match": etag}).status_code == 200
    settings.CACHES = {**settings.CACHES, "pages": NOT_KEPT}
    assert [html(client) for client in clients] == after


def test_a_profile_that_becomes_private_or_banned_is_gone_at_once(ada: User) -> None:
    assert "Lovelace" in html()
    etag = Client().get("/Ada").headers["ETag"]
    for hidden in ({"public_api_access": False}, {"is_active": False}):
        User.objects.filter(pk=ada.pk).update(**hidden)
        response = Client().get("/Ada", headers={"If-None-Match": etag})
        assert (response.status_code, b"Lovelace" in response.content) == (404, False)
        User.objects.filter(pk=ada.pk).update(public_api_access=True, is_active=True)


def test_everybody_gets_their_own_parts(ada: User, guest: User) -> None:
    member, blocked = UserFactory(), UserFactory()
    feedback.block(blocked=blocked, by=ada)
    comments.like(comment=Comment.objects.get(author=guest), by=member)
    people = {"ada": ada, "guest": guest, "member": member, "blocked": blocked, "visitor": None}

    def acts(who: User | None) -> list[str]:
        found = page_of(client_of(who).get("/Ada")).xpath(f"//*[@id='comment-{comment.pk}']//form")
        return [" ".join(button.text_content().split()) for form in found for button in form.xpath(".//button | .//a")]

    comment = Comment.objects.get(author=guest)
    wanted = {
        "ada": ["Like the comment by Guest0 · 1", "Reply to Guest0", "Pin", "Block Guest0", "Report comment"],
        "guest": ["Like the comment by Guest0 · 1", "Reply to Guest0"],
        "member": ["Liked the comment by Guest0 · 1", "Reply to Guest0", "Report comment"],
        "blocked": ["Replies", "Report comment"],
        "visitor": [],
    }
    wanted["ada"].append("Delete comment")
    wanted["guest"].append("Delete comment")
    for _ in range(2):
        assert {name: acts(who) for name, who in people.items()} == wanted


def test_the_forms_of_a_kept_list_hold_the_token_of_who_sees_them(ada: User, guest: User) -> None:
    comment = Comment.objects.get(author=guest)
    tokens = set()
    for member in (UserFactory(), UserFactory()):
        client = Client(enforce_csrf_checks=True)
        client.force_login(member)
        found = page_of(client.get("/Ada")).xpath("//input[@name='csrfmiddlewaretoken']/@value")
        (token,) = set(found)
        tokens.add(token)
        answer = client.post(f"/Ada/comments/{comment.pk}/like", {"csrfmiddlewaretoken": token, "back": "/Ada"})
        assert answer.status_code == 302
    assert len(tokens) == 2
    assert Comment.objects.get(pk=comment.pk).like_count == 2


def test_a_page_that_did_not_change_is_a_view_all_the_same(ada: User) -> None:
    etag = visit("/Ada").headers["ETag"]
    assert visit("/Ada", address="192.0.2.2", If_None_Match=etag).status_code == 304
    visits.fold(timezone.now())
    assert UserDocument.objects.get(pk=ada.pk).views == 2


def test_a_visitor_with_a_message_gets_it_and_nobody_after_them(ada: User) -> None:
    client = client_of(ada)
    client.post("/accounts/logout/")
    assert "You have signed out" in html(client)
    assert "You have signed out" not in html()


# --- What is kept ---


def test_what_is_kept_stays_in_the_process_that_made_it() -> None:
    for redis_url in ("", "redis://127.0.0.1/0"):
        pages = data_stores.caches(redis_url)["pages"]
        assert pages["BACKEND"] == "django.core.cache.backends.locmem.LocMemCache"
        assert pages["OPTIONS"]["MAX_ENTRIES"] * kept_html.MAX_BYTES <= 64 * 1024**2


def test_a_long_text_is_made_anew_each_time() -> None:
    for size, is_kept in ((kept_html.MAX_BYTES, True), (kept_html.MAX_BYTES + 1, False)):
        kept_html.keep(f"of-{size}", b"x" * size)
        assert (kept_html.find(f"of-{size}") is not None) is is_kept


def test_the_content_of_a_kept_part_sees_what_it_names_and_nothing_else() -> None:
    source = (
        "{% kept 'part' key shown=shown as html %} {{ shown }}{{ hidden }}{{ csrf_token }} {% endkept %}[{{ html }}]"
    )
    template = engines["django"].from_string(source)

    def rendered(key: str, shown: str) -> str:
        return template.render({"key": key, "shown": shown, "hidden": "no", "csrf_token": f"token of {shown}"})

    assert rendered("1", "<a>") == "[&lt;a&gt;token of <a>]"
    assert rendered("1", "<b>") == "[&lt;a&gt;token of <b>]"
    assert rendered("2", "<b>") == "[&lt;b&gt;token of <b>]"


def test_a_page_with_the_token_of_a_form_is_not_kept() -> None:
    def page(text: str) -> HttpResponse:
        def view(request: HttpRequest) -> HttpResponse:
            request.user = AnonymousUser()
            return kept_html.answer(request, kept_html.digest("page"), lambda: render(request))

        def render(request: HttpRequest) -> HttpResponse:
            get_token(request)
            return HttpResponse(text)

        answer = SessionMiddleware(MessageMiddleware(view))(RequestFactory().get("/page"))
        assert isinstance(answer, HttpResponse)
        return answer

    assert [page(text).content for text in ("one", "two")] == [b"one", b"two"]
