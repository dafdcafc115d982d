"""Which redirect URLs may be registered, which one a request may name, and where it leads: one URL in each line."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oauthlib.uri_validate import is_absolute_uri

from dashboard.client_apps import redirect_editor
from oidc_provider import redirects
from oidc_provider.authorize import flows

ALLOWED = [
    "https://app.example.org/callback",
    "https://app.example.org",
    "https://app.example.org/cb?from=login&x=1",
    "https://app.example.org:8443/cb",
    "https://app.example.org:65535/cb",
    "https://APP.example.org/cb",
    "https://app.example.org/a%20b",
    "https://xn--bcher-kva.example/cb",
    "https://203.0.113.7/cb",
    "https://app.example.org/cb?Code=1&states=2&x=state",
    "https://app.example.org/state?iss_=1",
    "https://[2001:db8::1]/cb",
    "https://localhost/cb",
    "http://127.0.0.1/cb",
    "http://127.0.0.1:65535/cb",
    "http://localhost:3000/cb",
    "com.example.app:/callback",
    "org.example.my-app2:/oauth/callback?x=1",
    "https://[2001:db8::]/cb",
    "https://[::ffff:192.0.2.1]/cb",
    "https://app.example.org/i.php?tx%5Baction%5D=cb",
    "https://app.example.org/a;b,c!$'()/@:?q=/?&~",
    "https://app.example.org/" + "x" * (250 - 24),
]

WHITE_SPACE = "white space, a backslash or a character outside ASCII"
ESCAPE = "percent-encode it as %"
WILDCARD = "Wildcards (*)"
FRAGMENT = "fragment"
USER_INFO = "user name or password"
HOST = "host"
PORT = "port must be between"
HTTPS = "Use https"
DOT = "with a dot in it"
ONE_SLASH = "one slash"
LOWER_CASE = "lower case"
WHOLE = "Write the whole URL"

REFUSED = [
    ("", "Enter a URL"),
    ("https://app.example.org/" + "x" * (251 - 24), "251 characters; at most 250"),
    ("https://app.example.org/cb\n", WHITE_SPACE),
    ("https://app.example.org\\@evil.example/", WHITE_SPACE),
    ("https://bücher.example/cb", WHITE_SPACE),
    ("https://\u0430pp.example.org/cb", WHITE_SPACE),
    ("https://app.example.org/i.php?tx[action]=cb", f"{ESCAPE}5B"),
    ("https://app.example.org/a|b", f"{ESCAPE}7C"),
    ("https://app.example.org/100%", f"{ESCAPE}25"),
    ("https://app.example.org/%zz", f"{ESCAPE}25"),
    ('https://app.example.org/"', f"{ESCAPE}22"),
    ("https://app.example.org/<a>?{b}^`", f"{ESCAPE}3C"),
    ("com.example.app:/a]", f"{ESCAPE}5D"),
    ("https://*.example.org/cb", WILDCARD),
    ("com.example.*:/cb", WILDCARD),
    ("https://app.example.org/cb#", FRAGMENT),
    ("com.example.app:/cb#top", FRAGMENT),
    ("https://app.example.org/cb?code=1", "Remove code from the query"),
    ("https://app.example.org/cb?x=1&%73tate", "Remove state from the query"),
    ("http://127.0.0.1/cb?iss=", "Remove iss from the query"),
    ("com.example.app:/cb?error_description=x&error=y", "Remove error, error_description from the query"),
    ("https://app.example.org@evil.example/cb", USER_INFO),
    ("http://127.0.0.1@evil.example/cb", USER_INFO),
    ("https:///cb", HOST),
    ("https://app.example.org:/cb", HOST),
    ("https://app.example.org:port/cb", HOST),
    ("https://app_name.example.org/cb", HOST),
    ("https://app..example.org/cb", HOST),
    ("https://-app.example.org/cb", HOST),
    ("https://[::1/cb", HOST),
    ("https://[1.2.3.4]/cb", HOST),
    ("https://2001:db8::1/cb", HOST),
    ("https://app.example.org:0/cb", PORT),
    ("https://app.example.org:65536/cb", PORT),
    ("http://app.example.org/cb", HTTPS),
    ("http://127.0.0.1.evil.example/cb", HTTPS),
    ("http://localhost.evil.example/cb", HTTPS),
    ("http://LOCALHOST/cb", HTTPS),
    ("http://localhost./cb", HTTPS),
    ("http://127.0.0.2/cb", HTTPS),
    ("http://[::1]/cb", HTTPS),
    ("HTTPS://app.example.org/cb", LOWER_CASE),
    ("https:/app.example.org/cb", LOWER_CASE),
    ("app.example.org/cb", WHOLE),
    ("/callback", WHOLE),
    ("myapp:/cb", DOT),
    ("javascript:alert(1)", DOT),
    ("urn:ietf:wg:oauth:2.0:oob", DOT),
    ("localhost:8080/cb", DOT),
    ("Com.example.app:/cb", "lower-case letters"),
    ("com.example.:/cb", "lower-case letters"),
    ("com.example+app:/cb", "lower-case letters"),
    ("com.example.app://cb", ONE_SLASH),
    ("com.example.app:", ONE_SLASH),
    ("app.example.org:8443/cb", ONE_SLASH),
]


@pytest.mark.parametrize("url", ALLOWED, ids=lambda url: url[:60])
def test_these_urls_can_be_registered(url: str) -> None:
    assert redirects.problem_of(url) is None


@pytest.mark.parametrize(("url", "rule"), REFUSED, ids=lambda text: ascii(text)[:60])
def test_these_urls_are_refused_with_their_rule(url: str, rule: str) -> None:
    problem = redirects.problem_of(url)
    assert problem is not None
    assert rule in problem


def test_the_longest_allowed_url_has_250_characters() -> None:
    assert [len(ALLOWED[-1]), len(REFUSED[1][0])] == [250, 251]


def _urls(count: int) -> list[str]:
    return [f"https://app.example.org/{number}" for number in range(count)]


@pytest.mark.parametrize(
    ("urls", "problems"),
    [
        (_urls(1), []),
        (_urls(10), []),
        (_urls(11), ["There are 11 redirect URLs; an app can have at most 10."]),
        ([], ["Register at least one redirect URL."]),
        (_urls(2) + _urls(1), ["https://app.example.org/0: This URL is listed twice."]),
        (["https://a.example/", "https://a.example"], []),
        (
            ["https://a.example/", "http://a.example/"],
            ["http://a.example/: Use https; plain http is allowed for the hosts 127.0.0.1 and localhost only."],
        ),
    ],
    ids=["one", "ten", "eleven", "none", "twice", "slash", "one bad"],
)
def test_a_list_is_judged_as_a_whole(urls: list[str], problems: list[str]) -> None:
    assert redirects.problems_of_all(urls) == problems


_PIECES = st.sampled_from(
    [*"abzAZ09-._~:/?#[]@!$&'()*+,;=%{}|<>^`\" ", "%5B", "%2f", "é", "//", "code=1", "x[y]=1", "::1"]
)
_BEGINNINGS = st.sampled_from(
    ["https://app.example.org", "https://[2001:db8::]", "http://127.0.0.1:80", "com.example.app:", "https://", ""]
)
URLS = st.builds("{}{}".format, _BEGINNINGS, st.lists(_PIECES, max_size=12).map("".join))


@settings(max_examples=500, deadline=None)
@given(url=URLS)
def test_what_can_be_registered_can_be_used_and_the_helper_says_so(url: str) -> None:
    """Oauthlib's pattern of RFC 3986 is the measure; it knows few IPv6 addresses, and matches no registered URL."""
    if redirects.problem_of(url) is not None:
        return
    assert "[" in url or is_absolute_uri(url)
    assert redirects.is_registered(url, [url])
    assert redirect_editor.explain(redirect_editor.sent_url(url), [url]) is None
    answer = flows.response_url(url, code="the code", state="the state")
    assert answer.startswith(url.removesuffix("?"))
    added = dict(parse_qsl(urlsplit(answer).query, keep_blank_values=True))
    assert (added["code"], added["state"], urlsplit(answer).fragment) == ("the code", "the state", "")
    assert not set(" ,;'") & set(redirects.form_action(url).partition(" ")[0])


@settings(max_examples=200, deadline=None)
@given(registered=URLS, sent=URLS)
def test_the_helper_says_what_authorize_does(registered: str, sent: str) -> None:
    said = redirect_editor.explain(sent, [registered]) is None
    assert said == redirects.is_registered(sent, [registered])


WEB = "https://app.example.org/callback"
WITH_QUERY = "https://app.example.org/cb?from=login&x=1"
WITH_PORT = "https://app.example.org:8443/cb"
LOOPBACK = "http://127.0.0.1/cb"
LOOPBACK_PORT = "http://127.0.0.1:8080/cb"
LOOPBACK_BARE = "http://127.0.0.1"
LOOPBACK_QUERY = "http://127.0.0.1/cb?x=1"
LOCALHOST = "http://localhost:3000/cb"
NATIVE = "com.example.app:/callback"
SECURE_LOOPBACK = "https://127.0.0.1:8443/cb"

MATCHING = [
    (WEB, WEB),
    (WITH_QUERY, WITH_QUERY),
    (LOCALHOST, LOCALHOST),
    (NATIVE, NATIVE),
    (SECURE_LOOPBACK, SECURE_LOOPBACK),
    (LOOPBACK, LOOPBACK),
    (LOOPBACK, "http://127.0.0.1:1/cb"),
    (LOOPBACK, "http://127.0.0.1:65535/cb"),
    (LOOPBACK_PORT, "http://127.0.0.1/cb"),
    (LOOPBACK_PORT, "http://127.0.0.1:9090/cb"),
    (LOOPBACK_BARE, "http://127.0.0.1:9090"),
    (LOOPBACK_QUERY, "http://127.0.0.1:9090/cb?x=1"),
]

NOT_MATCHING = [
    (WEB, ""),
    (WEB, "https://app.example.org/callback/"),
    (WEB, "https://app.example.org/Callback"),
    (WEB, "https://app.example.org/callback/../callback"),
    (WEB, "https://app.example.org/%63allback"),
    (WEB, "https://app.example.org/callback\x00"),
    (WEB, "HTTPS://app.example.org/callback"),
    (WEB, "http://app.example.org/callback"),
    (WEB, "https://app.example.org./callback"),
    (WEB, "https://app.example.org.evil.example/callback"),
    (WITH_QUERY, "https://app.example.org/cb?x=1&from=login"),
    (WITH_PORT, "https://app.example.org:8444/cb"),
    (LOCALHOST, "http://localhost/cb"),
    (LOCALHOST, "http://localhost:3001/cb"),
    (LOCALHOST, "http://127.0.0.1:3000/cb"),
    (LOOPBACK, "http://localhost/cb"),
    (LOOPBACK, "http://[::1]/cb"),
    (LOOPBACK, "https://127.0.0.1/cb"),
    (LOOPBACK, "HTTP://127.0.0.1/cb"),
    (LOOPBACK, "http://127.0.0.1:0/cb"),
    (LOOPBACK, "http://127.0.0.1:65536/cb"),
    (LOOPBACK, "http://127.0.0.1:/cb"),
    (LOOPBACK, "http://127.0.0.1:\uff18\uff10/cb"),
    (LOOPBACK, "http://127.0.0.1:80:80/cb"),
    (LOOPBACK, "http://127.0.0.1:8080@evil.example/cb"),
    (LOOPBACK, "http://127.0.0.1.evil.example/cb"),
    (LOOPBACK, "http://127.0.0.1:8080/other"),
    (LOOPBACK, "http://127.0.0.1:8080/cb?x=1"),
    (LOOPBACK_BARE, "http://127.0.0.1:9090/"),
    (NATIVE, "com.example.app://callback"),
    (NATIVE, "COM.example.app:/callback"),
]


@pytest.mark.parametrize(("registered", "asked"), MATCHING)
def test_these_urls_match(registered: str, asked: str) -> None:
    assert redirects.is_registered(asked, [registered])
    assert redirects.is_registered(asked, ["https://other.example/", registered])


@pytest.mark.parametrize(("registered", "asked"), NOT_MATCHING, ids=ascii)
def test_these_urls_do_not_match(registered: str, asked: str) -> None:
    assert not redirects.is_registered(asked, [registered])


def test_nothing_matches_an_empty_list() -> None:
    assert not redirects.is_registered(WEB, [])


@pytest.mark.parametrize(
    ("url", "destination", "form_action"),
    [
        (WEB, ("app.example.org", False), "https://app.example.org https:"),
        (WITH_PORT, ("app.example.org:8443", False), "https://app.example.org:8443 https:"),
        ("https://[2001:db8::1]:8443/cb", ("[2001:db8::1]:8443", False), "https://[2001:db8::1]:8443 https:"),
        (LOOPBACK_PORT, ("127.0.0.1:8080", True), "http://127.0.0.1:8080 http://127.0.0.1:* http://localhost:* https:"),
        (LOCALHOST, ("localhost:3000", True), "http://localhost:3000 http://127.0.0.1:* http://localhost:* https:"),
        (NATIVE, ("com.example.app:", True), "com.example.app:"),
    ],
)
def test_where_a_url_leads_for_the_user_and_for_the_browser(
    url: str, destination: tuple[str, bool], form_action: str
) -> None:
    assert redirects.destination(url) == destination
    assert redirects.form_action(url) == form_action
