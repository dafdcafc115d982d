"""What visitors do on public pages: votes and comments, lists of people."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import people
from tests.browser.axe import problems_of
from tests.browser.chromium import NARROW, WIDE
from tests.browser.people import OPERATOR, USER, Site, at_a_browser

pytestmark = pytest.mark.live
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])


@SCRIPTS
def test_a_visitor_comments_and_the_owner_moderates(chrome: Browser, site: Site, scripts: bool) -> None:
    owner = site.account(USER)
    words = f"Written {'with' if scripts else 'without'} scripts."
    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        person = people.sign_up(page, site)
        page.goto(f"/{owner['username']}")
        page.get_by_role("button", name="Like", exact=True).click()
        expect(page.get_by_role("button", name="Liked", exact=True)).to_be_visible()
        page.get_by_label("Comment", exact=True).fill(words)
        page.get_by_role("button", name="Post comment").click()
        comment = page.locator(".comment", has_text=words)
        expect(comment).to_be_visible()
        comment.get_by_role("link", name="Reply").click()
        page.get_by_label("Reply", exact=True).fill("And a reply.")
        page.get_by_role("button", name="Post reply").click()
        expect(page.get_by_text("And a reply.")).to_be_visible()

    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, owner)
        page.goto(f"/{owner['username']}")
        comment = page.locator(".comments > li > .comment", has_text=words)
        comment.get_by_text("More").first.click()
        comment.get_by_role("button", name="Pin").first.click()
        expect(comment.get_by_text("Pinned")).to_be_visible()
        comment.get_by_text("More").first.click()
        comment.get_by_role("button", name=f"Block {person.username}").first.click()
        expect(page.get_by_text(f"{person.username} is blocked.")).to_be_visible()
        comment.get_by_text("More").first.click()
        comment.get_by_role("button", name="Delete comment").click()
        expect(page.get_by_text("Comment deleted.")).to_be_visible()
        expect(page.get_by_text(words)).to_have_count(0)
        page.get_by_role("link", name="Moderation").click()
        page.get_by_role("button", name=f"Unblock {person.username}").click()
        expect(page.get_by_text("No user is blocked.")).to_be_visible()


@SCRIPTS
def test_a_visitor_reports_a_comment_and_staff_delete_it(chrome: Browser, site: Site, scripts: bool) -> None:
    owner, operator = site.account(USER), site.account(OPERATOR)
    words = f"Cheap lamps, {'with' if scripts else 'without'} scripts."
    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, owner)
        page.goto(f"/{operator['username']}")
        page.get_by_label("Comment", exact=True).fill(words)
        page.get_by_role("button", name="Post comment").click()
        expect(page.locator(".comment", has_text=words)).to_be_visible()

    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        person = people.sign_up(page, site)
        page.goto(f"/{operator['username']}")
        comment = page.locator(".comments > li > .comment", has_text=words)
        comment.get_by_text("More").first.click()
        comment.get_by_role("link", name="Report comment").click()
        expect(page.locator("blockquote")).to_have_text(words)
        assert problems_of(page, scripts=scripts) == []
        page.get_by_label("Spam or advertising").check()
        page.get_by_label("Details").fill("Sells lamps.")
        page.get_by_role("button", name="Send report").click()
        expect(page.get_by_text("Report sent.")).to_be_visible()

    with at_a_browser(chrome, site, scripts=scripts) as page:
        people.sign_in(page, operator)
        _delete_reported(page, words, person.username, scripts=scripts)
        page.goto(f"/{operator['username']}")
        expect(page.get_by_text(words)).to_have_count(0)


def _delete_reported(page: Page, words: str, reporter: str, *, scripts: bool) -> None:
    """From the first page of the admin; `scripts`: look for errors of accessibility on the way."""
    page.goto("/admin/")
    page.get_by_role("link", name="Open reports").click()
    assert problems_of(page, scripts=scripts) == []
    page.locator(".row", has_text=words).locator("[data-desk-row]").click()
    expect(page.get_by_text("Sells lamps.")).to_be_visible()
    expect(page.get_by_role("link", name=reporter)).to_be_visible()
    assert problems_of(page, scripts=scripts) == []
    page.get_by_role("link", name="Delete comment and close").click()
    page.get_by_label("Reason").fill("Advertising.")
    page.get_by_role("button", name="Delete comment").click()
    expect(page.get_by_text(re.compile(r"The comment of .* is deleted\."))).to_be_visible()


@SCRIPTS
def test_a_profile_is_shared(chrome: Browser, site: Site, scripts: bool) -> None:
    owner = site.account(USER)
    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        page.goto(f"/{owner['username']}")
        page.get_by_role("link", name="Share", exact=True).click()
        address = f"{site.base_url}/{owner['username']}"
        expect(page.get_by_text(address, exact=True)).to_be_visible()
        code = page.get_by_role("img", name=f"QR code of {address}")
        expect(code).to_be_visible()
        if scripts:
            assert code.evaluate("image => image.naturalWidth") > 0
            assert problems_of(page) == []
        with page.expect_download() as download:
            page.get_by_role("link", name="Download QR code").click()
        assert download.value.suggested_filename == f"{owner['username']}-qr.svg"


def test_the_share_button_opens_the_dialog_of_the_system(chrome: Browser, site: Site) -> None:
    owner = site.account(USER)
    with at_a_browser(chrome, site) as page:
        page.add_init_script("navigator.share = async (what) => { window.shared = what; };")
        page.goto(f"/{owner['username']}/share")
        page.get_by_role("button", name="Share with an app").click()
        assert page.evaluate("window.shared.url") == f"{site.base_url}/{owner['username']}"


@SCRIPTS
def test_a_visitor_finds_someone_on_the_board_and_by_name(chrome: Browser, site: Site, scripts: bool) -> None:
    name = site.account(USER)["username"]
    with at_a_browser(chrome, site, scripts=scripts, is_narrow=True) as page:
        page.goto("/")
        page.get_by_role("contentinfo").get_by_role("link", name="Leaderboard").click()
        expect(page.get_by_role("heading", name="Most viewed")).to_be_visible()
        page.get_by_role("link", name="First members").click()
        expect(page.get_by_text("Member 0")).to_be_visible()
        page.get_by_role("link", name="Next").click()
        expect(page.get_by_text("Page 2 of ")).to_be_visible()
        page.get_by_label("Find someone by name").fill(f"@{name[:2].upper()}")
        page.keyboard.press("Enter")
        page.get_by_role("main").locator(f".person__link[href='/{name}']").click()
        page.wait_for_url(f"**/{name}")
        page.goto("/search?q=a")
        expect(page.get_by_role("alert")).to_have_text("Type 2 to 32 characters of the name.")


@SCRIPTS
def test_the_owner_of_a_first_profile_sees_who_came(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, scripts=scripts) as owner, at_a_browser(chrome, site, scripts=scripts) as visitor:
        person = people.sign_up(owner, site)
        owner.goto("/dashboard/profile/visitors/")
        expect(owner.get_by_text("No visitors in this period")).to_be_visible()
        assert problems_of(owner, scripts=scripts, at=(WIDE, NARROW)) == []
        visitor.set_extra_http_headers({"User-Agent": "Mozilla/5.0 Firefox/128.0"})
        visitor.goto(f"/{person.username}", referer="https://news.example/a?b")
        assert problems_of(visitor, scripts=scripts, at=(WIDE, NARROW)) == []
        main = visitor.get_by_role("main")
        expect(main.get_by_role("heading")).to_have_count(1)
        expect(main.get_by_role("link", name="Sign in to vote or comment")).to_be_visible()
        owner.reload()
        expect(owner.get_by_role("heading", name="1 view", exact=True)).to_be_visible()
        expect(owner.get_by_role("row", name="news.example 1")).to_be_visible()
        owner.get_by_text("Day by day").click()
        expect(owner.get_by_role("region", name="Table of days").get_by_role("row")).to_have_count(31)
        assert problems_of(owner, scripts=scripts, at=(WIDE, NARROW)) == []
        with owner.expect_download() as download:
            owner.get_by_role("link", name="Download as CSV").click()
        assert "view,news.example,1" in download.value.path().read_text()
