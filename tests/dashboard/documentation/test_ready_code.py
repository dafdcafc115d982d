"""Sign-in buttons and ready code on the pages; what the pages say of the dashboard is so."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from django.template import engines
from django.test import Client
from django.urls import reverse
from lxml import etree
from pytest_django import Settings

from accounts.api_keys import keys
from accounts.models import User
from accounts.webhooks import endpoints
from dashboard.api_keys import queries as keys_queries
from dashboard.api_keys.forms import Overlap
from dashboard.client_apps import code_samples, sign_in_buttons
from dashboard.client_apps.code_samples import STACKS, Stack
from dashboard.documentation import button_kit, contents, expansion, personalization
from dashboard.imagehost import uploaders
from dashboard.management.commands import remind_of_keys
from imagehost.folders import folders, rules
from oidc_provider import redirects
from oidc_provider.applications import application_rules
from tests.dashboard.webhooks.places import Place, given_up, retrying
from tests.factories.oidc_provider import ApplicationFactory
from tests.pages.markup import page_of, problems_of

FENCE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def codes(markdown: str) -> dict[str, str]:
    return dict(FENCE.findall(markdown))


def unquoted(code: str) -> str:
    """A shell needs quotes around some values alone; elsewhere they are double ones, or stay as they are."""
    return code.replace("'", "").rstrip()


def test_a_readers_code_is_that_of_the_page_of_the_newest_app(signed_in: Client, reader: User) -> None:
    ApplicationFactory.create(user=reader, redirect_uris="https://first.example/cb")
    app = ApplicationFactory.create(
        user=reader, redirect_uris="http://127.0.0.1:4567/signed-in", registered_scopes=["openid", "email"]
    )
    samples = [code_samples.sample_of(stack, app, app.redirect_urls[0]) for stack in STACKS]
    expected = {each.stack.file: unquoted(each.code) for each in samples}
    found = codes(signed_in.get("/docs/sign-in.md").content.decode())
    assert {name: unquoted(code) for name, code in found.items()} == expected
    page = page_of(signed_in.get("/docs/sign-in"))
    assert {unquoted(code.text_content()) for code in page.xpath("//fieldset//pre/code")} == set(expected.values())


def test_a_visitors_code_has_placeholders_and_registers_what_it_listens_to(client: Client) -> None:
    text = client.get("/docs/sign-in.md").content.decode()
    found = codes(text)
    assert list(found) == [*(stack.file for stack in STACKS if stack.name != "curl"), "sign-in.sh"]
    for code in found.values():
        assert "YOUR_CLIENT_ID" in code
        assert "identify" in code
        assert "<<" not in code.replace("<<<", "")
    assert "app.run(port=3000)" in found["app.py"]
    assert "redirect URL `http://127.0.0.1:3000/callback`" in text
    assert "`http://127.0.0.1:3000/accounts/oidc/hearth/login/callback/`" in text
    assert ":::" not in text


def test_the_stacks_are_radio_buttons_with_one_panel_each(client: Client) -> None:
    response = client.get("/docs/sign-in")
    assert problems_of(response) == []
    (group,) = page_of(response).xpath("//article//fieldset")
    assert group.xpath("string(legend)") == "Your stack"
    labels = [label.text_content() for label in group.xpath("label")]
    assert labels == [panel.xpath("string(h3)") for panel in group.xpath("div")]
    assert sorted(labels) == sorted(stack.title for stack in STACKS)
    assert group.xpath("input/@type") == ["radio"] * len(STACKS)
    assert group.xpath("input/@id") == group.xpath("label/@for")
    assert group.xpath("input[@checked]/@id") == ["choice-1"]
    assert len(set(group.xpath("input/@name"))) == 1
    assert [panel.xpath("count(.//pre)") for panel in group.xpath("div")] == [1] * len(STACKS)


def test_the_code_comes_before_the_flow_and_each_stack_says_how_it_is_tested(client: Client) -> None:
    page = page_of(client.get("/docs/sign-in"))
    kinds = [each.tag for each in page.xpath("//article//*[self::pre or self::svg or self::table]")]
    assert kinds == [*["pre"] * len(STACKS), "svg", "table", "svg", "table"]
    for stack in STACKS:
        (panel,) = [each for each in page.xpath("//fieldset/div") if each.xpath("string(h3)") == stack.title]
        assert stack.proof in panel.text_content()
        assert all(note in panel.text_content() for note in stack.notes)


NAMES = [
    f"{variant}-{size}{icon}"
    for variant, size, icon in itertools.product(("light", "dark", "neutral"), (32, 40, 48), ("", "-icon"))
]
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "A&B <'\"`${x}\\%s>"


def drawn(client: Client, name: str) -> Any:
    response = client.get(f"/docs/sign-in/buttons/{name}.svg")
    assert response.status_code == 200, name
    return etree.fromstring(response.content)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_has_the_size_of_its_name_and_says_what_the_button_does(client: Client, name: str) -> None:
    """Mark and text are in the middle, with the same space on both sides."""
    root = drawn(client, name)
    width, height = int(root.get("width")), int(root.get("height"))
    assert (str(height), root.get("role")) == (re.findall(r"\d+", name)[0], "img")
    assert root.get("aria-label") == "Sign in with Hearth"
    assert (width == height) == name.endswith("-icon") == (not root.findall(f"{SVG}text"))
    assert root.get("viewBox") == f"0 0 {width} {height}"
    rect, mark, text = (root.find(f"{SVG}{kind}") for kind in ("rect", "image", "text"))
    # The line is one unit wide: half of it would be cut off at the edge.
    assert [float(rect.get(side)) for side in ("x", "y", "width", "height")] == [0.5, 0.5, width - 1, height - 1]
    left, top, side = (int(mark.get(key)) for key in ("x", "y", "width"))
    assert (int(mark.get("height")), 2 * top + side) == (side, height)
    end = left + side
    if text is not None:
        assert text.text == "Sign in with Hearth"
        assert 8 <= width - float(text.get("x")) - float(text.get("textLength")) <= 24
        assert 8 <= float(text.get("x")) - end <= 12
        assert float(text.get("y")) == pytest.approx(height / 2 + 0.36 * float(text.get("font-size")))
        end = int(text.get("x")) + int(text.get("textLength"))
    assert left == width - end


@pytest.mark.parametrize(
    ("text", "width"), [("Sign in", 278 * 3 + 667 + 611 * 3), ("é", 556), ("火", 1000), ("Ж", 640)]
)
def test_a_text_is_measured_by_its_letters(text: str, width: int) -> None:
    assert sign_in_buttons.measured(text) == width


def test_a_long_name_makes_a_wide_button(client: Client, settings: Settings) -> None:
    before = int(drawn(client, "light-40").get("width"))
    settings.SITE_NAME = "The Harbour Master's House"
    assert int(drawn(client, "light-40").get("width")) > before + 80


def test_another_variant_or_size_is_404(client: Client) -> None:
    for name in ("light", "light-41", "pink-40", "light-40-text", "LIGHT-40"):
        assert client.get(f"/docs/sign-in/buttons/{name}.svg").status_code == 404, name


def test_a_picture_may_be_cached_and_used_by_any_site(client: Client) -> None:
    response = client.get("/docs/sign-in/buttons/dark-48.svg")
    assert response.headers["Content-Type"] == "image/svg+xml"
    assert response.headers["Cache-Control"] == "public, max-age=86400"
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; img-src data:; sandbox"
    assert "Vary" not in response.headers
    assert not response.cookies
    again = client.get("/docs/sign-in/buttons/dark-48.svg", headers={"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["Cache-Control"] == "public, max-age=86400"
    assert client.post("/docs/sign-in/buttons/dark-48.svg").status_code == 405


def luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("variant", sign_in_buttons.VARIANTS)
def test_colors_contrast_as_the_rules_of_use_say(variant: str) -> None:
    colors = sign_in_buttons.VARIANTS[variant]
    assert contrast(colors.text, colors.ground) >= 13
    assert variant == "neutral" or contrast(colors.line, colors.ground) >= 3


def test_the_styles_have_the_colors_of_the_pictures() -> None:
    """Light is the base; the dark ones are there twice, once for the reader's theme."""
    found = re.findall(r"--sign-in-(ground|line|text): (#\w+);", button_kit.STYLES.read_text())
    variants = sign_in_buttons.VARIANTS
    light, dark = ([each.ground, each.line, each.text] for each in (variants["light"], variants["dark"]))
    neutral = [variants["neutral"].ground, variants["neutral"].line]
    assert [color for _, color in found] == [*light, *dark, *neutral, *dark]


def test_the_page_shows_each_picture_with_its_html(client: Client, settings: Settings) -> None:
    response = client.get("/docs/sign-in/buttons")
    assert problems_of(response) == []
    page = page_of(response)
    paths = [f"/docs/sign-in/buttons/{name}.svg" for name in NAMES]
    assert sorted(page.xpath("//fieldset//img/@src")) == sorted(paths)
    assert set(page.xpath("//fieldset//img/@alt")) == {"Sign in with Hearth"}
    assert sorted(page.xpath("//a[@download]/@href")) == sorted(paths)
    codes = [code.text_content() for code in page.xpath("//fieldset//pre/code")]
    assert all(f"{settings.BASE_URL}{path}" in "".join(codes) for path in paths)
    assert '<a href="/login"><img src="http' in codes[0]
    assert 'alt="Sign in with Hearth" width="' in codes[0]


def test_the_page_shows_the_styles_that_it_uses(client: Client) -> None:
    page = page_of(client.get("/docs/sign-in/buttons"))
    assert button_kit.STYLES.read_text().rstrip() in [code.text_content() for code in page.xpath("//pre/code")]
    assert any("css/sign_in_button" in href for href in page.xpath("//link/@href"))
    buttons = page.xpath("//button[contains(@class, 'sign-in-with')]")
    assert {button.text_content() for button in buttons} == {"Sign in with Hearth"}
    assert len([button for button in buttons if button.get("disabled") is not None]) == 3


def test_a_name_with_special_characters_breaks_neither_pictures_nor_programs(
    client: Client, settings: Settings
) -> None:
    settings.SITE_NAME = HOSTILE
    assert drawn(client, "light-32").get("aria-label") == f"Sign in with {HOSTILE}"
    html = sign_in_buttons.sample()
    assert [character for character in "'`$\\%{}" if character in html] == []
    assert f"home = `{html}`" in code_samples.open_code(
        next(s for s in code_samples.STACKS if s.name == "openid-client")
    )


CALLED = {  # by the page that has a link or a button of this name
    "dashboard": ("Apps", "API keys", "Teams", "Webhooks"),
    "application": (
        "Settings",
        "Try it",
        "Requests",
        "Code",
        "Add a second secret",
        "Reset the secret",
        "Create a staging app",
    ),
    "api_key": ("Request a permission", "Revoke", "Replace with a new key", "Change name, expiry or origins"),
    "webhook": ("Send a test event", "Rotate the secret"),
    "paused webhook": ("Resume",),
    "given up delivery": ("Send it again",),
    "delivery between two attempts": ("Try it now",),
}


def text_of(slug: str) -> str:
    return personalization.visitor().fill(expansion.as_text(contents.pages()[slug]))


def address_of(page: str, reader: User) -> str:
    """Return the address of a page of CALLED, made for `reader`."""
    if page == "application":
        return reverse(page, args=[ApplicationFactory.create(user=reader).client_id])
    if page == "api_key":
        issued = keys.issue(owner=reader, permissions=["imagehost:upload"], name="Mine", by=reader)
        return reverse(page, args=[issued.key.prefix])
    if page == "dashboard":
        return reverse(page)
    place = Place(reader)
    endpoint = place.endpoint()
    if page == "paused webhook":
        endpoints.pause(endpoint=endpoint, by=reader)
    if page in {"webhook", "paused webhook"}:
        return place.page(endpoint)
    delivery = given_up(endpoint) if page == "given up delivery" else retrying(endpoint)
    return place.page(endpoint, f"deliveries/{delivery.message_id}/")


@pytest.mark.django_db
@pytest.mark.parametrize("page", CALLED)
def test_what_a_page_calls_by_name_is_called_so_in_the_dashboard(signed_in: Client, reader: User, page: str) -> None:
    shown = page_of(signed_in.get(address_of(page, reader)))
    named = {" ".join(each.text_content().split()) for each in shown.xpath("//a | //button")}
    assert set(CALLED[page]) <= named


def test_every_name_is_looked_up() -> None:
    printed = {name for page in contents.pages().values() for name in re.findall(r"\*\*(.+?)\*\*", page.source)}
    assert printed == {name for names in CALLED.values() for name in names}


def test_the_limits_of_an_account_are_those_of_the_code() -> None:
    text = text_of("limits")
    assert f"| Apps of an account | {application_rules.MAX_APPLICATIONS} |" in text
    assert f"| Keys of an account that work at the same time | {keys.MAX_LIVE} |" in text
    assert f"| Keys made by the uploaders page | {uploaders.MAX_A_DAY} within a day |" in text
    assert f"| {redirects.MAX_URLS}, each at most {redirects.MAX_LENGTH} characters |" in text
    assert f"at most {folders.MAX_FOLDERS} folders and {rules.MAX_RULES} folder rules" in text


def test_the_life_of_a_key_is_that_of_the_code() -> None:
    text = text_of("api-keys")
    assert remind_of_keys.WITHIN == keys_queries.SOON
    assert f"In the {remind_of_keys.WITHIN.days} days before, you get one email" in text
    assert f"in its last {remind_of_keys.WITHIN.days} days" in text_of("changes")
    offered = [int(hours) for hours in Overlap.values]
    assert offered == [0, 1, keys.LONGEST_OVERLAP.total_seconds() // 3600]
    assert f"when the old one stops: at once, or after {offered[1]} or {offered[2]} hours" in text


def test_the_secret_has_the_name_that_it_has_in_the_file_of_a_new_secret() -> None:
    named = set(re.findall(r"`(CLIENT_\w+)`", text_of("sign-in")))
    (directory,) = (Path(folder) for engine in engines.all() for folder in engine.dirs)
    file = (directory / "dashboard" / "client_apps" / "secret.html").read_text()
    assert [f"\n{name}={{{{ client_secret }}}}" in file for name in named] == [True]


LIBRARIES = [stack for stack in STACKS if stack.name != "curl"]


def test_every_library_with_ready_code_has_a_row() -> None:
    assert set(re.findall(r"^\| ([^|`]+?) \|", section(), re.MULTILINE)) == {
        "Library",
        "---",
        *(stack.title for stack in LIBRARIES),
    }


@pytest.mark.parametrize("stack", LIBRARIES, ids=lambda stack: stack.name)
def test_a_librarys_settings_stand_in_its_ready_code(stack: Stack) -> None:
    app = ApplicationFactory.build(user=User(), registered_scopes=["openid", "identify"])
    sample = code_samples.sample_of(stack, app, "https://app.example/callback")
    [row] = re.findall(rf"^\| {re.escape(stack.title)} \| (.+) \|$", section(), re.MULTILINE)
    settings = [setting for setting in re.findall(r"`([^`]+)`", row) if setting]
    assert settings
    assert [setting for setting in settings if squeezed(setting) not in squeezed(sample.code)] == []


def section() -> str:
    return text_of("sign-in/client-libraries").split("## Settings by library")[1].split("\n## ")[0]


def squeezed(code: str) -> str:
    return "".join(code.split())


@pytest.mark.parametrize(("seconds", "words"), [(1_800, "30 minutes"), (7_200, "2 hours")])
def test_a_changed_lifetime_is_named_on_the_pages(settings: Settings, seconds: int, words: str) -> None:
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, "ACCESS_TOKEN_EXPIRE_SECONDS": seconds}
    for slug in ("limits", "sign-in"):
        assert f"| Access token | {words} |" in expansion.fill(
            contents.pages()[slug].source.replace("{{ stacks }}\n", "")
        )
