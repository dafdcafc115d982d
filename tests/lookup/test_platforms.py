"""What an address says about its platform: one row for each platform of the table, and addresses that deceive."""

from __future__ import annotations

import pytest

from lookup.models import Link
from lookup.serializers.rows import PLATFORMS as EARLIER
from lookup.shapes import platforms
from tests.support import patterns

ROWS = (  # the address, and what follows from it: platform, type, title, drawing
    ("https://mastodon.social/@ada", "mastodon", "profile", "@ada on Mastodon", "people"),
    ("https://mastodon.lamps.example/@ada", "mastodon", "profile", "@ada on Mastodon", "people"),
    ("https://mastodon.social/@ada@lamps.example", "mastodon", "", "Mastodon", "people"),
    ("https://bsky.app/profile/ada.bsky.social", "bluesky", "profile", "@ada.bsky.social on Bluesky", "people"),
    ("https://www.instagram.com/ada.l_/", "instagram", "profile", "@ada.l_ on Instagram", "people"),
    ("https://www.threads.net/@ada", "threads", "profile", "@ada on Threads", "people"),
    ("https://m.facebook.com/ada.lovelace", "facebook", "profile", "ada.lovelace on Facebook", "people"),
    ("https://facebook.com/groups/1843", "facebook", "group", "Facebook", "people"),
    ("https://x.com/ada", "x", "profile", "@ada on X", "people"),
    ("https://twitter.com/ada?lang=en", "x", "profile", "@ada on X", "people"),
    ("https://x.com/Home", "x", "", "X", "people"),
    ("https://de.linkedin.com/in/ada-lovelace", "linkedin", "profile", "ada-lovelace on LinkedIn", "people"),
    ("https://old.reddit.com/r/lamps/", "reddit", "group", "lamps on Reddit", "people"),
    ("https://www.tumblr.com/ada", "tumblr", "profile", "@ada on Tumblr", "people"),
    ("https://ada.tumblr.com/archive", "tumblr", "", "Tumblr", "people"),
    ("https://www.snapchat.com/add/ada", "snapchat", "profile", "@ada on Snapchat", "people"),
    ("https://misskey.io/@ada", "misskey", "profile", "@ada on Misskey", "people"),
    ("https://lemmy.lamps.example/c/lamps", "lemmy", "group", "lamps on Lemmy", "people"),
    ("https://vk.com/ada", "vk", "profile", "@ada on VK", "people"),
    ("https://linktr.ee/ada", "linktree", "profile", "@ada on Linktree", "web"),
    ("https://discord.gg/lamps", "chatServer", "server", "Discord", "chat"),
    ("https://discord.com/invite/lamps", "chatServer", "server", "Discord", "chat"),
    ("https://discord.com/users/1843", "discord", "profile", "Discord", "chat"),
    ("https://t.me/ada", "telegram", "profile", "@ada on Telegram", "chat"),
    ("https://wa.me/441234567", "whatsapp", "profile", "WhatsApp", "chat"),
    ("https://signal.me/#eu/abc", "signal", "profile", "Signal", "chat"),
    ("https://matrix.to/#/@ada:lamps.example", "matrix", "", "Matrix", "chat"),
    ("https://lamps.slack.com/", "slack", "server", "lamps on Slack", "chat"),
    ("https://getsession.org/", "session", "", "Session", "chat"),
    ("https://www.GitHub.com/Ada/", "github", "profile", "@Ada on GitHub", "code"),
    ("https://github.com/ada/lamps", "github", "", "GitHub", "code"),
    ("https://ada.github.io", "github", "profile", "@ada on GitHub", "code"),
    ("https://gist.github.com/ada", "github", "", "GitHub", "code"),
    ("https://gitlab.com/ada", "gitlab", "profile", "@ada on GitLab", "code"),
    ("https://codeberg.org/ada", "codeberg", "profile", "@ada on Codeberg", "code"),
    ("https://forgejo.lamps.example/ada", "forgejo", "profile", "@ada on Forgejo", "code"),
    ("https://bitbucket.org/ada", "bitbucket", "profile", "@ada on Bitbucket", "code"),
    ("https://git.sr.ht/~ada", "sourcehut", "profile", "ada on SourceHut", "code"),
    ("https://stackoverflow.com/users/1843/ada", "stackoverflow", "profile", "ada on Stack Overflow", "code"),
    ("https://www.npmjs.com/~ada", "npm", "profile", "ada on npm", "code"),
    ("https://pypi.org/user/ada/", "pypi", "profile", "ada on PyPI", "code"),
    ("https://codepen.io/ada", "codepen", "profile", "@ada on CodePen", "code"),
    ("https://hub.docker.com/u/ada", "docker", "profile", "ada on Docker Hub", "code"),
    ("https://huggingface.co/ada", "huggingface", "profile", "@ada on Hugging Face", "code"),
    ("https://open.spotify.com/artist/4a1", "spotify", "artist", "Spotify", "music"),
    ("https://soundcloud.com/ada", "soundcloud", "profile", "@ada on SoundCloud", "music"),
    ("https://ada.bandcamp.com/", "bandcamp", "artist", "ada on Bandcamp", "music"),
    ("https://music.apple.com/gb/artist/ada/1843", "apple-music", "artist", "Apple Music", "music"),
    ("https://www.deezer.com/en/profile/1843", "deezer", "profile", "Deezer", "music"),
    ("https://tidal.com/browse/artist/1843", "tidal", "artist", "Tidal", "music"),
    ("https://www.last.fm/user/ada", "lastfm", "profile", "ada on Last.fm", "music"),
    ("https://listenbrainz.org/user/ada/", "listenbrainz", "profile", "ada on ListenBrainz", "music"),
    ("https://www.mixcloud.com/ada/", "mixcloud", "profile", "@ada on Mixcloud", "music"),
    ("https://www.youtube.com/@%C3%84da", "youtube", "channel", "@Äda on YouTube", "video"),
    ("https://youtu.be/xyz", "youtube", "", "YouTube", "video"),
    ("https://www.twitch.tv/ada", "twitch", "channel", "@ada on Twitch", "video"),
    ("https://vimeo.com/ada", "vimeo", "profile", "@ada on Vimeo", "video"),
    ("https://www.tiktok.com/@ada", "tiktok", "profile", "@ada on TikTok", "video"),
    ("https://kick.com/ada", "kick", "channel", "@ada on Kick", "video"),
    ("https://odysee.com/@ada", "odysee", "channel", "@ada on Odysee", "video"),
    ("https://peertube.lamps.example/c/ada", "peertube", "channel", "@ada on PeerTube", "video"),
    ("https://pixelfed.social/ada", "pixelfed", "profile", "@ada on Pixelfed", "picture"),
    ("https://www.pinterest.com/ada/", "pinterest", "profile", "@ada on Pinterest", "picture"),
    ("https://www.flickr.com/photos/ada/", "flickr", "profile", "ada on Flickr", "picture"),
    ("https://www.behance.net/ada", "behance", "profile", "ada on Behance", "picture"),
    ("https://dribbble.com/ada", "dribbble", "profile", "@ada on Dribbble", "picture"),
    ("https://www.deviantart.com/ada", "deviantart", "profile", "ada on DeviantArt", "picture"),
    ("https://ada.artstation.com/", "artstation", "profile", "ada on ArtStation", "picture"),
    ("https://www.pixiv.net/en/users/1843", "pixiv", "profile", "pixiv", "picture"),
    ("https://unsplash.com/@ada", "unsplash", "profile", "@ada on Unsplash", "picture"),
    ("https://steamcommunity.com/id/ada/", "steam", "profile", "ada on Steam", "game"),
    ("https://www.xbox.com/en-GB/play/user/ada", "xbox", "profile", "ada on Xbox", "game"),
    ("https://profile.playstation.com/ada", "playstation", "profile", "ada on PlayStation", "game"),
    ("https://ada.itch.io/", "itch", "profile", "ada on itch.io", "game"),
    ("https://www.roblox.com/users/1843/profile", "roblox", "profile", "Roblox", "game"),
    ("https://www.minecraft.net/", "minecraft", "", "Minecraft", "game"),
    ("https://store.epicgames.com/en-US/", "epicgames", "", "Epic Games", "game"),
    ("https://www.gog.com/u/ada", "gog", "profile", "ada on GOG", "game"),
    ("https://lichess.org/@/ada", "lichess", "profile", "@ada on Lichess", "game"),
    ("https://www.chess.com/member/ada", "chess", "profile", "@ada on Chess.com", "game"),
    ("https://www.etsy.com/shop/ada", "etsy", "shop", "ada on Etsy", "shop"),
    ("https://www.redbubble.com/people/ada/shop", "redbubble", "shop", "ada on Redbubble", "shop"),
    ("https://ada.gumroad.com/", "gumroad", "shop", "ada on Gumroad", "shop"),
    ("https://ko-fi.com/ada", "kofi", "profile", "ada on Ko-fi", "support"),
    ("https://www.patreon.com/c/ada", "patreon", "profile", "ada on Patreon", "support"),
    ("https://buymeacoffee.com/ada", "buymeacoffee", "profile", "ada on Buy Me a Coffee", "support"),
    ("https://liberapay.com/ada/", "liberapay", "profile", "ada on Liberapay", "support"),
    ("https://opencollective.com/ada", "opencollective", "profile", "ada on Open Collective", "support"),
    ("https://paypal.me/ada", "paypal", "profile", "ada on PayPal", "support"),
    ("https://medium.com/@ada", "medium", "profile", "@ada on Medium", "writing"),
    ("https://ada.substack.com/", "substack", "newsletter", "ada on Substack", "writing"),
    ("https://dev.to/ada", "devto", "profile", "@ada on DEV Community", "writing"),
    ("https://ada.wordpress.com/", "wordpress", "blog", "ada on WordPress", "writing"),
    ("https://www.goodreads.com/user/show/1843", "goodreads", "profile", "Goodreads", "writing"),
    ("https://en.wikipedia.org/wiki/Ada_Lovelace", "wikipedia", "article", "Wikipedia", "writing"),
    ("https://www.wattpad.com/user/ada", "wattpad", "profile", "ada on Wattpad", "writing"),
    ("https://anilist.co/user/ada/", "anilist", "profile", "ada on AniList", "figures"),
    ("https://myanimelist.net/profile/ada", "myanimelist", "profile", "ada on MyAnimeList", "figures"),
    ("https://letterboxd.com/ada/", "letterboxd", "profile", "@ada on Letterboxd", "figures"),
    ("https://trakt.tv/users/ada", "trakt", "profile", "ada on Trakt", "figures"),
    ("https://www.strava.com/athletes/1843", "strava", "profile", "Strava", "figures"),
)


@pytest.mark.parametrize(
    ("url", "platform_id", "platform_type", "title", "drawing"), ROWS, ids=[row[0] for row in ROWS]
)
def test_platform_title_and_drawing_follow_from_the_address(
    url: str, platform_id: str, platform_type: str, title: str, drawing: str
) -> None:
    found = platforms.of_address(url)
    assert found
    assert (found.platform_id, found.platform_type, found.title) == (platform_id, platform_type, title)
    assert found.drawing == drawing == platforms.drawing_of(platform_id, "")
    Link(url=url, title=title, platform_id=platform_id, platform_type=platform_type).clean_fields(exclude=["profile"])


def test_every_platform_has_a_row_here() -> None:
    named = {found.name for row in ROWS if (found := platforms.of_address(row[0]))}
    assert named == {platform.name for platform in platforms.PLATFORMS.values()}


def test_platforms_have_the_names_that_earlier_forms_of_the_lookup_know() -> None:
    known = {name for names in EARLIER.values() for name in names}
    for url in ("https://discord.gg/a", "https://bsky.app/", "https://t.me/a", "https://xbox.com/"):
        found = platforms.of_address(url)
        assert found
        assert found.platform_id in known


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com.evil.example/ada",
        "https://notgithub.com/ada",
        "https://github.company/ada",
        "https://github/ada",
        "https://ada@github.com/ada",
        "https://github.com@evil.example/ada",
        "https://github.com:8443/ada",
        "https://github.com:x/ada",
        "https://evil.example\\.github.com/ada",
        "https://evil.example/.github.com/ada",
        "https://evil.example?.github.com/ada",
        "https://evil.example#.github.com/ada",
        "https://gìthub.com/ada",
        "https://\uff47ithub.com/ada",
        "https://github\u3002com/ada",
        "https://xn--gthub-5sa.com/ada",
        "https://git\thub.com/ada",
        "https://github.com/\u202eada",
        "https://[github.com]/ada",
        "https://[::1/ada",
        "https://.github.com/ada",
        "https://github..com/ada",
        "//github.com/ada",
        "github.com/ada",
        "javascript://github.com/ada",
        "mailto:ada@github.com",
        "ada#1843",
        "",
        "https://github.com/" + "a" * 2000,
    ],
)
def test_an_address_that_deceives_has_no_platform(url: str) -> None:
    assert platforms.of_address(url) is None


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/%3Cscript%3E", "GitHub"),
        ("/a%2Fb", "GitHub"),
        ("/%E2%80%AEada", "GitHub"),
        ("/ada%0A", "GitHub"),
        ("/" + "a" * 65, "GitHub"),
        ("/login", "GitHub"),
        ("/ADA?tab=stars#top", "@ADA on GitHub"),
        ("//", "GitHub"),
    ],
)
def test_a_handle_is_a_short_plain_word(path: str, title: str) -> None:
    found = platforms.of_address(f"https://github.com{path}")
    assert found
    assert found.title == title


@pytest.mark.parametrize("tail", ["/" * 1900, "/@" * 900, "a." * 900, "/%" * 900, "/" + "." * 1900])
def test_a_long_address_is_read_at_once(tail: str) -> None:
    with patterns.bounded(1):
        for host in ("https://x.com", "https://ada.bandcamp.com", "https://"):
            platforms.of_address(host + tail)
