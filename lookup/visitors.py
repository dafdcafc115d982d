"""Who counts as a visitor, and the hash that stands for one. Pure rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

MAX_USER_AGENT = 1000  # characters that are hashed; whoever sends more is not known by the rest

# Words in the user agents of what is no person at a browser: crawlers, previews of messengers, monitors, libraries.
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
# What browsers say of a page that they load before anybody asked for it.
_EARLY_HEADERS = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
_EARLY = re.compile("prefetch|prerender|preview", re.IGNORECASE)


@dataclass(frozen=True)
class Visitor:
    """Where a request came from. Never stored: `hashed` is."""

    address: str
    user_agent: str

    @classmethod
    def of(cls, method: str, headers: Mapping[str, str], address: str) -> Self | None:
        """None for what is no visit of a person: HEAD, loads ahead of time, robots, no user agent."""
        user_agent = headers.get("User-Agent", "").strip()
        if method != "GET" or not user_agent or _ROBOT.search(user_agent):
            return None
        if any(_EARLY.search(headers.get(name, "")) for name in _EARLY_HEADERS):
            return None
        return cls(address, user_agent[:MAX_USER_AGENT])

    def hashed(self, user_id: str, salt: str) -> str:
        """What stands for this visitor on the profiles of one user while `salt` is known; 32 characters.

        The user is part of it: nothing tells that the same visitor was on two profiles.
        """
        text = f"{user_id}\0{self.address}\0{self.user_agent}"
        return blake2b(text.encode(errors="replace"), key=bytes.fromhex(salt), digest_size=16).hexdigest()
