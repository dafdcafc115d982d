"""Which redirect URLs may be registered, and which a request may name: one URL in each line."""

import pytest

from oidc_provider import redirects

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
    "https://app.example.org/" + "x" * (250 - 24),
]

WHITE_SPACE = "white space, a backslash or a character outside ASCII"
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
