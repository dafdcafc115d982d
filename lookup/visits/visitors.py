"""Rules for requests that count as visits, the hash of a visitor, and the host that led here. Pure rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self
from urllib.parse import urlsplit

MAX_USER_AGENT = 1000  # characters that are read

DIRECT, OTHER = "", "*"  # hosts: the visitor came from no other page; the host is not kept
_HOST = re.compile(r"(?=.{1,100}\Z)[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")

# Words in the user agents of programs: crawlers, previews of messengers, monitors, libraries.
_ROBOT_WORDS = (
    r"(?<!cu)bot(?:\b|_) robot crawl spider slurp scrap(?:e|y) archiv index(?:er|ing) fetch preview embed(?!ded) "
    r"facebookexternalhit facebookcatalog whatsapp vkshare slack-img mastodon pleroma misskey "
    r"mediapartners adsense apis-google google-inspection google-read-aloud google-safety "
    r"chatgpt-user claude-web anthropic cohere perplexity bytespider yandex(?!search) sogou "
    r"ahrefs semrush dataprovider censys shodan zgrab masscan nmap nikto nuclei sqlmap wpscan qualys nessus "
    r"monitor uptime pingdom statuscake site24x7 kube-probe healthcheck health-check googlehc "
    r"lighthouse pagespeed gtmetrix headless phantomjs selenium puppeteer playwright "
    r"\bcurl wget libwww(?!-fm) lwp:: python aiohttp httpx urllib java/ jakarta okhttp apache-http go-http "
    r"node-fetch axios undici \bgot\b guzzle \bphp/ \bruby faraday \bperl\b powershell postman "
    r"insomnia httpie winhttp restsharp "
    r"dart: validator w3c_ linkcheck link-check feed(?:ly|burner|parser|\b) \brss newsblur"
).split()
_ROBOT = re.compile("|".join(_ROBOT_WORDS), re.IGNORECASE)
# Headers of browsers that load a page ahead of time.
_EARLY_HEADERS = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
_EARLY = re.compile("prefetch|prerender|preview", re.IGNORECASE)
# What browsers say of a person who opens a page (Fetch Metadata), unlike a picture, a frame or a script that asks.
_NAVIGATION = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate"}


def is_visit(method: str, headers: Mapping[str, str]) -> bool:
    """Return whether a person opens a page. HEAD, a part of another page, a load ahead of time, a robot, and a request
    without a user agent are no visits."""
    user_agent = _agent_of(headers)
    if method != "GET" or not user_agent or _ROBOT.search(user_agent):
        return False
    if any(_EARLY.search(headers.get(name, "")) for name in _EARLY_HEADERS):
        return False
    return all(headers.get(name, value).strip().lower() == value for name, value in _NAVIGATION.items())


def _agent_of(headers: Mapping[str, str]) -> str:
    return headers.get("User-Agent", "")[:MAX_USER_AGENT].strip()


@dataclass(frozen=True)
class Visitor:
    """The origin of a request. Only its hash is stored."""

    address: str
    user_agent: str

    @classmethod
    def of(cls, method: str, headers: Mapping[str, str], address: str) -> Self | None:
        """Return the visitor; None where the request is no visit."""
        return cls(address, _agent_of(headers)) if is_visit(method, headers) else None

    def hashed(self, user_id: str, salt: str) -> str:
        """Return the hash of this visitor on the profiles of one user under `salt`; 32 characters.

        It includes the user, so that visits of one visitor to two users cannot be linked.
        """
        text = f"{user_id}\0{self.address}\0{self.user_agent}"
        return blake2b(text.encode(errors="replace"), key=bytes.fromhex(salt), digest_size=16).hexdigest()


def host_of(headers: Mapping[str, str], own_hosts: Collection[str]) -> str:
    """Return the host of the page that led here, in lower case: DIRECT for none or one of ours, OTHER for what is no
    host of a web page. Nothing else of its address is read."""
    referrer = headers.get("Referer", "").strip()
    if not referrer:
        return DIRECT
    try:
        parts = urlsplit(referrer)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return OTHER
    if host in own_hosts:
        return DIRECT
    return host if parts.scheme in {"http", "https"} and _HOST.fullmatch(host) else OTHER
