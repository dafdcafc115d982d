"""What visitors and owners do on profile pages: vote, comment, reply, like, delete, pin, block, switch off."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import bans, rate_limits
from accounts.models import AuditEvent, User
from infrastructure import limits
from infrastructure.limits import Limit
from lookup.documents import document_checks
from lookup.models import Comment, CommentLike, FeedbackVote, ProfileBlock
from lookup.social import comments, feedback
from lookup.views import discussion
from tests.factories.accounts import UserFactory
from tests.factories.lookup import CommentFactory, shown
from tests.lookup import answers
from tests.lookup.profile_pages import text
from tests.pages.markup import page_of, problems_of
from tests.support import patterns

pytestmark = pytest.mark.usefixtures("unlimited")


@pytest.fixture
def ada(operator: User) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def bob(db: None) -> User:
    return UserFactory(username="Bob", created_at=timezone.now() - timedelta(days=30))


def _client(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def _write(client: Client, content: str, path: str = "/Ada/comments", pk: str = "a" * 32) -> HttpResponse:
    return client.post(path, {"content": content, "pk": pk})  # type: ignore[return-value]  # the test client's own class


def _act(client: Client, comment: Comment, act: str, **values: str) -> Any:
    return client.post(f"/Ada/comments/{comment.pk}/{act}", values)


def _lookup() -> Any:
    return answers.user("ada", "comments", "feedback").body


def _message(client: Client, path: str = "/Ada") -> str:
    return text(page_of(client.get(path)).xpath("//div[@class='messages']")[0])


def test_a_comment_is_posted_and_shown_at_its_anchor(ada: User, bob: User) -> None:
    client = _client(bob)
    response = _write(client, " Hello\r\nAda ")
    assert (response.status_code, response.headers["Location"]) == (302, f"/Ada#comment-{'a' * 32}")
    (shown_text,) = page_of(client.get("/Ada")).xpath(f"//*[@id='comment-{'a' * 32}']//p[@class='user-text']")
    assert shown_text.text == "Hello\nAda"
    assert (_lookup()["comments"]["count"], _lookup()["comments"]["items"][0]["content"]) == (1, "Hello\nAda")


def test_a_comment_that_is_sent_twice_is_one(ada: User, bob: User) -> None:
    for _ in range(2):
        assert _write(_client(bob), "Hello").status_code == 302
    assert _write(_client(ada), "With the id of another's").status_code == 302
    assert list(Comment.objects.order_by("created_at").values_list("content", flat=True)) == [
        "Hello",
        "With the id of another's",
    ]


@pytest.mark.parametrize(("content", "problem"), [("", "Write 1 to 2000"), ("x" * 2001, "Write 1 to"), ("a\0b", "")])
def test_what_is_no_comment_is_kept_in_the_form(ada: User, bob: User, content: str, problem: str) -> None:
    response = _write(_client(bob), content)
    assert (response.status_code, problems_of(response)) == (200, [])
    page = page_of(response)
    assert problem in text(page.xpath("//*[contains(@class, 'errorlist')]")[0])
    assert page.xpath("//textarea[@name='content']")[0].text_content().strip() == content.replace("\0", "\ufffd")
    assert not Comment.objects.exists()


@pytest.mark.parametrize("link", ["https://spam.example/x", "www.spam.example", "spam.example", "SPAM.example/?x"])
def test_a_new_account_writes_no_links(ada: User, bob: User, link: str) -> None:
    bob.created_at = timezone.now() - comments.NO_LINKS_FOR + timedelta(minutes=1)
    bob.save()
    response = _write(_client(bob), f"See {link}")
    assert f"Remove “{link}”" in text(page_of(response))
    assert _write(_client(bob), "One word.Another? No: e. g. this, at 3.5 %.", pk="b" * 32).status_code == 200
    assert _write(_client(bob), "Hello. Nice page, 3.5 of 5!", pk="c" * 32).status_code == 302
    bob.created_at -= timedelta(minutes=1)
    bob.save()
    assert _write(_client(bob), f"See {link}").status_code == 302


def test_a_reply_is_shown_under_its_comment(ada: User, bob: User) -> None:
    comment = comments.write(user=ada, content="Hello", by=bob)
    thread = f"/Ada/comments/{comment.pk}"
    response = _write(_client(ada), "Thanks", thread)
    assert response.headers["Location"] == f"{thread}#comment-{'a' * 32}"
    for path in ("/Ada", "/Ada/comments", thread):
        page = page_of(Client().get(path))
        (reply,) = page.xpath(f"//*[@id='comment-{comment.pk}']//ol//*[@class='user-text']")
        assert reply.text == "Thanks"
    assert _write(_client(ada), "No", f"/Ada/comments/{'a' * 32}", "b" * 32).status_code == 404  # a reply to a reply


def test_every_comment_and_reply_is_reached_by_paging(ada: User, bob: User) -> None:
    many = [CommentFactory(user=ada, author=bob, content=f"Comment {number}") for number in range(45)]
    CommentFactory.create_batch(25, user=ada, author=bob, parent=many[-1])
    shown(ada)
    found = []
    for number in (1, 2, 3):
        page = page_of(Client().get(f"/Ada/comments?page={number}"))
        found += page.xpath("//ol[@class='comments']/li/div/@id")
    assert found == [f"comment-{one['id']}" for one in _lookup()["comments"]["items"]]
    assert page_of(Client().get("/Ada")).xpath("//a[.='More comments']/@href") == ["/Ada/comments?page=2"]
    path = f"/Ada/comments/{many[-1].pk}"
    replies = [page_of(Client().get(f"{path}?page={number}")).xpath("//ol//li/div/@id") for number in (1, 2)]
    assert [len(ids) for ids in replies] == [20, 5]
    for query in ("page=0", "page=x", "page=1&page=2", "page=10001", f"page={'9' * 30}"):
        assert Client().get(f"/Ada/comments?{query}").status_code == 404


def test_as_many_comments_or_replies_as_a_page_holds_lead_to_no_next_page(ada: User, bob: User) -> None:
    many = [CommentFactory(user=ada, author=bob, content=f"Comment {number}") for number in range(20)]
    replies = CommentFactory.create_batch(20, user=ada, author=bob, parent=many[-1])
    thread = f"/Ada/comments/{many[-1].pk}"
    shown(ada)
    for path in ("/Ada", "/Ada/comments", thread):
        page = page_of(Client().get(path))
        assert len(page.xpath("//ol//li/div/@id")) >= 20
        assert [link for link in page.xpath("//a/@href") if "page=2" in link] == []
    CommentFactory(user=ada, author=bob, content="One more")
    CommentFactory(user=ada, author=bob, content="One more", parent=replies[0].parent)
    shown(ada)
    for path in ("/Ada", "/Ada/comments", thread):
        assert len([link for link in page_of(Client().get(path)).xpath("//a/@href") if "page=2" in link]) == 1


def test_a_like_is_given_and_taken_back_where_it_was_shown(ada: User, bob: User) -> None:
    comment = comments.write(user=ada, content="Hello", by=ada)
    client = _client(bob)
    for act, count in (("like", 1), ("like", 1), ("unlike", 0)):
        response = _act(client, comment, act, back="/Ada/comments?page=1")
        assert response.headers["Location"] == f"/Ada/comments?page=1#comment-{comment.pk}"
        assert (Comment.objects.get().like_count, CommentLike.objects.count()) == (count, count)


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/Adam", "/Ada/\\..", "x" * 300, "\0"])
def test_forms_lead_back_to_the_profile_alone(ada: User, bob: User, back: str) -> None:
    comment = comments.write(user=ada, content="Hello", by=ada)
    location = _act(_client(bob), comment, "like", back=back).headers["Location"]
    assert location == f"/Ada#comment-{comment.pk}" or location.startswith("/Ada/")


def test_a_vote_is_given_changed_and_withdrawn(ada: User, bob: User) -> None:
    client = _client(bob)
    for vote, expected in (("like", (1, 0)), ("dislike", (0, 1)), ("withdraw", (0, 0)), ("withdraw", (0, 0))):
        response = client.post("/Ada/vote", {"vote": vote})
        assert (response.status_code, response.headers["Location"]) == (302, "/Ada#feedback")
        found = _lookup()["feedback"]
        assert (found["likes"], found["dislikes"]) == expected
    assert client.post("/Ada/vote", {"vote": "love"}).status_code == 404
    own = _client(ada)
    own.post("/Ada/vote", {"vote": "like"})
    assert _message(own) == "You cannot vote on your own profile."
    assert not FeedbackVote.objects.exists()


def test_who_is_signed_out_is_led_to_sign_in_and_back(ada: User) -> None:
    comment = comments.write(user=ada, content="Hello", by=ada)
    page = page_of(Client().get("/Ada"))
    assert page.xpath("//a[.='Sign in to comment']/@href") == [f"/accounts/login/?next=/Ada{quote('#')}comments"]
    assert page.xpath("//form[contains(@action, '/Ada/')]") == []
    for path in ("/Ada/vote", "/Ada/comments", f"/Ada/comments/{comment.pk}", f"/Ada/comments/{comment.pk}/like"):
        response = Client().post(path, {"content": "x", "vote": "like"})
        assert (response.status_code, response.headers["Location"]) == (302, "/accounts/login/?next=/Ada")
    assert Comment.objects.count() == 1


def test_every_form_needs_its_token(ada: User, bob: User) -> None:
    comment = comments.write(user=ada, content="Hello", by=ada)
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    acts = [f"/Ada/comments/{comment.pk}/{act}" for act in ("like", "delete", "pin", "block")]
    for path in ("/Ada/vote", "/Ada/comments", f"/Ada/comments/{comment.pk}", *acts, "/Bob/moderation/hide"):
        assert client.post(path, {"content": "x", "vote": "like", "value": "votes"}).status_code == 403


def test_authors_and_the_owner_delete_and_others_do_not(ada: User, bob: User) -> None:
    first, second = (comments.write(user=ada, content=content, by=bob) for content in ("First", "Second"))
    eve = _client(UserFactory())
    _act(eve, first, "delete")
    assert _message(eve) == "Only its author or the profile's owner may delete a comment."
    _act(_client(bob), first, "delete")
    assert not AuditEvent.objects.filter(verb="comment:deleted").exists()
    owner = _client(ada)
    for sentence in ("Comment deleted.", "This comment has been deleted."):
        assert _act(owner, second, "delete").status_code == 302
        assert _message(owner) == sentence
    (event,) = AuditEvent.objects.filter(verb="comment:deleted")
    assert (event.actor, event.data) == (ada, {"comment": second.pk, "author": bob.pk})
    assert _lookup()["comments"] == {"count": 0, "items": []}


def test_the_owner_pins_and_others_do_not(ada: User, bob: User) -> None:
    old = comments.write(user=ada, content="Old", by=bob)
    comments.write(user=ada, content="New", by=bob)
    _act(_client(bob), old, "pin")
    assert [item["content"] for item in _lookup()["comments"]["items"]] == ["New", "Old"]
    for act, expected in (("pin", ["Old", "New"]), ("unpin", ["New", "Old"])):
        _act(_client(ada), old, act)
        assert [item["content"] for item in _lookup()["comments"]["items"]] == expected
    assert AuditEvent.objects.filter(verb__in=["comment:pinned", "comment:unpinned"], actor=ada).count() == 2


def test_a_blocked_user_does_nothing_more_until_the_owner_ends_it(ada: User, bob: User) -> None:
    comment = comments.write(user=ada, content="Hello", by=bob)
    _act(_client(bob), comment, "block")
    assert not ProfileBlock.objects.exists()
    _act(_client(ada), comment, "block")
    client = _client(bob)
    assert "The owner of this profile has blocked you." in text(page_of(client.get("/Ada")))
    assert "has blocked you" in text(page_of(_write(client, "More")))
    _act(client, comment, "like")
    client.post("/Ada/vote", {"vote": "like"})
    found = _lookup()
    assert (found["comments"]["count"], found["comments"]["items"][0]["likeCount"], found["feedback"]["likes"]) == (
        1,
        0,
        0,
    )
    owner = _client(ada)
    assert "Unblock Bob" in text(page_of(owner.get("/Ada/moderation")))
    owner.post("/Ada/moderation/unblock", {"value": bob.pk})
    assert _write(client, "More").status_code == 302
    assert AuditEvent.objects.filter(verb__in=["profile:blocked", "profile:unblocked"], actor=ada).count() == 2


def test_comments_and_votes_are_switched_off_and_on(ada: User, bob: User) -> None:
    comments.write(user=ada, content="Hello", by=bob)
    owner, client = _client(ada), _client(bob)
    for part in ("comments", "votes"):
        owner.post("/Ada/moderation/hide", {"value": part})
    page = text(page_of(client.get("/Ada")))
    assert "Hello" not in page
    assert "Dislike" not in page
    assert _write(client, "More").status_code == 404
    with pytest.raises(PermissionDenied, match="Comments on this profile are switched off"):
        comments.write(user=ada, content="More", by=bob)
    with pytest.raises(PermissionDenied, match="Votes on this profile are switched off"):
        feedback.vote(user=ada, is_like=True, by=bob)
    owner.post("/Ada/moderation/show", {"value": "comments"})
    assert _write(client, "More").status_code == 302
    assert _lookup()["comments"]["count"] == 2


def test_moderation_is_the_owners(ada: User, bob: User) -> None:
    assert _client(bob).get("/Ada/moderation").status_code == 404
    assert _client(bob).post("/Ada/moderation/hide", {"value": "votes"}).status_code == 404
    assert Client().get("/Ada/moderation").headers["Location"] == "/accounts/login/?next=/Ada/moderation"
    for act, value in (("hide", "views"), ("wipe", "votes"), ("unblock", "\0")):
        assert _client(ada).post(f"/Ada/moderation/{act}", {"value": value}).status_code == 404
    page = page_of(_client(ada).get("/ada"))
    assert page.xpath("//a[.='Edit profile']/@href") == ["/dashboard/profile/"]
    with pytest.raises(PermissionDenied):
        feedback.block(blocked=ada, by=ada)


def test_each_blocked_user_is_on_a_page_of_the_list(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discussion, "BLOCKS_AT_ONCE", 2)
    people = UserFactory.create_batch(3)
    for person in people:
        feedback.block(blocked=person, by=ada)
    pages = [page_of(_client(ada).get(f"/Ada/moderation{query}")) for query in ("", "?page=2")]
    shown = [page.xpath("//button[starts-with(., 'Unblock')]/@value") for page in pages]
    assert shown == [[people[2].pk, people[1].pk], [people[0].pk]]
    assert pages[0].xpath("//a[@rel='next']/@href") == ["?page=2"]


def test_private_and_banned_owners_and_banned_visitors(ada: User, bob: User) -> None:
    comment = comments.write(user=ada, content="Hello", by=ada)
    banned = _client(bob)
    bans.ban(user=bob, by=None, reason="x")
    assert _write(banned, "Hello").headers["Location"] == "/accounts/login/?next=/Ada"
    eve = _client(UserFactory())
    User.objects.filter(pk=ada.pk).update(public_api_access=False)
    for path in ("/Ada/comments", f"/Ada/comments/{comment.pk}"):
        assert eve.get(path).status_code == 404
        assert _write(eve, "x", path).status_code == 404
    assert _act(eve, comment, "like").status_code == eve.post("/Ada/vote", {"vote": "like"}).status_code == 404
    assert (Comment.objects.count(), CommentLike.objects.count()) == (1, 0)


def test_comments_of_banned_users_and_replies_to_them_have_no_page(ada: User, bob: User) -> None:
    comment = comments.write(user=ada, content="Hello", by=bob)
    mine = comments.write(user=ada, content="Mine", by=ada)
    comments.write(user=ada, content="Reply", parent=mine, by=bob)
    bans.ban(user=bob, by=None, reason="x")
    assert Client().get(f"/Ada/comments/{comment.pk}").status_code == 404
    assert "Reply" not in text(page_of(Client().get("/Ada")).xpath("//main")[0])


def test_limits_refuse_with_the_text_kept(ada: User, bob: User, settings: Any, monkeypatch: Any) -> None:
    settings.RATE_LIMITS_ENABLED = True
    for name in ("COMMENTS", "VOTES"):
        monkeypatch.setattr(rate_limits, name, Limit(f"test-{name}-{bob.pk}", 1, "", window=limits.HOUR))
    client = _client(bob)
    assert _write(client, "One").status_code == 302
    response = _write(client, "Two", pk="b" * 32)
    assert (response.status_code, 0 < int(response.headers["Retry-After"]) <= 3600) == (429, True)
    page = page_of(response)
    assert "Limit reached: 1 an hour. Try again in 60 min." in text(page)
    assert page.xpath("//textarea")[0].text_content().strip() == "Two"
    for vote in ("like", "dislike"):
        client.post("/Ada/vote", {"vote": vote})
    assert "Limit reached" in _message(client)
    assert FeedbackVote.objects.get().is_like


def test_a_refused_comment_counts_against_the_limit(ada: User, bob: User, settings: Any, monkeypatch: Any) -> None:
    settings.RATE_LIMITS_ENABLED = True
    monkeypatch.setattr(rate_limits, "COMMENTS", Limit(f"test-refused-{bob.pk}", 2, "", window=limits.HOUR))
    client = _client(bob)
    assert [_write(client, content).status_code for content in ("", "x" * 2001, "One")] == [200, 200, 429]
    assert not Comment.objects.exists()


def test_a_refused_comment_takes_no_lock(ada: User, bob: User) -> None:
    """The new account's link is looked for before the rows of both people are locked."""
    bob.created_at = timezone.now()
    with CaptureQueriesContext(connection) as captured, pytest.raises(ValidationError):
        comments.write(user=ada, content="See spam.example", by=bob)
    assert [query["sql"] for query in captured if "SELECT" in query["sql"]] == []


def test_the_longest_comment_is_searched_for_links_at_once(ada: User, bob: User) -> None:
    bob.created_at = timezone.now()
    for content in ("a." * 1000, "a" * 2000, "a.b1" * 500):
        with patterns.bounded(0.1):
            assert comments.validated(content, by=bob) == content


def test_the_pages_keep_the_rules_and_their_number_of_queries(ada: User, bob: User) -> None:
    many = [comments.write(user=ada, content=f"Comment {number}", by=bob) for number in range(3)]
    for _ in range(4):
        comments.write(user=ada, content="Reply", parent=many[0], by=ada)
    owner, visitor = _client(ada), _client(bob)
    for client in (Client(), owner, visitor):
        for path in ("/Ada", "/Ada/comments", f"/Ada/comments/{many[0].pk}"):
            response = client.get(path)
            assert problems_of(response) == [], path
            assert "no-cache" in response.headers["Cache-Control"]
    assert problems_of(owner.get("/Ada/moderation")) == []
    counts = {}
    for name, client in (("signed out", Client()), ("owner", owner), ("visitor", visitor)):
        with CaptureQueriesContext(connection) as captured:
            client.get("/Ada")
        counts[name] = len(captured)
    # The user with the document, comments with replies; the visitor; likes; block and vote.
    assert counts == {"signed out": 2, "owner": 4, "visitor": 6}
    assert list(document_checks.differences()) == []
