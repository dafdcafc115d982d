"""One namespace for usernames, aliases and reserved words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Upper

if TYPE_CHECKING:
    from accounts.models.users import User

models.CharField.register_lookup(Upper)

MAX_NAME_LENGTH = 32
NAME_REGEX = rf"[A-Za-z0-9._-]{{1,{MAX_NAME_LENGTH}}}"
NAME_PATTERN = rf"\A{NAME_REGEX}\Z"
NAME_RULE = f"1 to {MAX_NAME_LENGTH} letters, digits, dots, hyphens or underscores"

# Names that would hide a path of the service, or pass for its staff. "." and ".." are no path segments.
_WORDS = (
    ". .. .well-known 2fa about abuse access account accounts admin administrator alias aliases anonymous api app "
    "apps assets auth avatar badges blog chat connect consent contact dashboard discovery docs docs.md download email "
    "error errors explore faq favicon.ico feedback files folder folders gallery guest healthz help home host image "
    "imagehost images index invite jwks leaderboard legal llms.txt login logout lookup mail me media metrics "
    "moderator null oauth oauth2 official oidc openid operator owner page password pricing premium presence privacy "
    "profile readyz register root robots.txt rules schema search security settings setup signin signout signup "
    "sitemap.xml staff static status support system team terms token undefined upload uploads user username users "
    "verify webhook www"
).split()
# What browsers, phones, advertisers and scanners ask every site for by themselves.
_ASKED_FOR = (
    ".env .git .htaccess ads.txt ai.txt android-chrome-192x192.png android-chrome-512x512.png app-ads.txt "
    "apple-app-site-association apple-touch-icon-precomposed.png apple-touch-icon.png assetlinks.json atom.xml "
    "autodiscover browserconfig.xml carbon.txt clientaccesspolicy.xml config.json crossdomain.xml default.asp "
    "default.aspx default.htm default.html dnt-policy.txt favicon-16x16.png favicon-32x32.png favicon.gif favicon.png "
    "favicon.svg feed feed.xml gpc.json home.html humans.txt index.asp index.aspx index.htm index.html index.jsp "
    "index.php index.xml keybase.txt llms-full.txt manifest.json manifest.webmanifest mstile-150x150.png "
    "offline.html openapi.json opensearch.xml package.json phpinfo.php phpmyadmin rss rss.xml safari-pinned-tab.svg "
    "security.txt sellers.json service-worker.js serviceworker.js site.webmanifest sitemap.txt sitemap.xml.gz "
    "sitemap_index.xml swagger.json sw.js swagger traffic-advice trafficbasedsspsitemap.xml wp-admin wp-content "
    "wp-includes wp-json wp-login.php xmlrpc.php"
).split()
# Paths of the service that came later.
_LATER = ("oembed",)
_TOUCH_ICONS = [f"apple-touch-icon-{side}x{side}.png" for side in (57, 60, 72, 76, 114, 120, 144, 152, 167, 180)]
RESERVED_NAMES = (*_WORDS, *_ASKED_FOR, *_TOUCH_ICONS, *_LATER)
RESERVED_KEYS = tuple(sorted(name.upper() for name in RESERVED_NAMES))
# What the database refuses, too. The rest were free once: `free_reserved_names` frees the taken ones.
_ENFORCED_KEYS = tuple(sorted(name.upper() for name in _WORDS))


class NameKind(models.TextChoices):
    USERNAME = "USERNAME", "Username"
    ALIAS = "ALIAS", "Alias"


class NameQuerySet(models.QuerySet["Name"]):
    def by_name(self, name: str) -> NameQuerySet:
        """Return the row of `name`, in any case. ASCII only, so both databases fold alike."""
        return self.filter(key=name.upper())

    def claim_username(self, user: User) -> None:
        """Give `user` the name in `user.username`, and free the one it had. IntegrityError: it is taken."""
        held = self.filter(user=user, kind=NameKind.USERNAME)
        if not held.update(key=user.username.upper(), name=user.username):
            self.create(key=user.username.upper(), name=user.username, user=user, kind=NameKind.USERNAME)


class Name(models.Model):
    """A taken name. Its key is the name in upper case; the database refuses a second row with that key."""

    key = models.CharField(max_length=MAX_NAME_LENGTH, primary_key=True)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    kind = models.CharField(max_length=8, choices=NameKind.choices)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="names")

    objects = NameQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(key=Upper(F("name"))), name="name_key_is_upper_name"),
            models.CheckConstraint(condition=Q(name__regex=NAME_PATTERN), name="name_has_allowed_characters"),
            models.CheckConstraint(condition=~Q(key__in=_ENFORCED_KEYS), name="name_is_not_reserved"),
            models.CheckConstraint(condition=Q(kind__in=NameKind.values), name="name_kind_is_known"),
            models.UniqueConstraint(
                fields=["user"], condition=Q(kind=NameKind.USERNAME), name="name_one_username_for_each_user"
            ),
        ]

    def __str__(self) -> str:
        return self.name


def validate_available(name: str) -> None:
    """Raise ValidationError when `name` is reserved or taken, as a username or as an alias, in any case."""
    if name.upper() in RESERVED_KEYS:
        raise ValidationError("This name is reserved.", code="reserved")
    if "\0" not in name and Name.objects.by_name(name).exists():  # PostgreSQL cannot look up a NUL byte
        raise ValidationError("This name is already taken.", code="taken")
