"""What the earlier form answers about Ada, and what a leaderboard shows of her, typed from docs/spec/lookup.md.
The documents give no order of keys here.
"""

from __future__ import annotations

from typing import Any

from tests.lookup.filled import ADA, CDN, row
from tests.lookup.filled_settings import SETTINGS

Json = dict[str, Any]  # Any: a JSON value

JOINED = 1714979289  # 2024-05-06T07:08:09.120Z
# The settings of which four parts of the page have one each.
CUSTOMIZATION = (
    *("customization", "accentColor", "opacity"),
    *("borderCustomization", "borderColor", "borderWidth", "borderRadius", "borderOpacity"),
)

# What both profiles have, under one name.
SHARED: Json = {
    "userId": 1,
    "avatar": f"{CDN}/avatars/ada.png",
    "theme": "paper",
    "banner": f"{CDN}/banners/ada.png",
    "backgroundEffect": "snow",
    "description": 'First programmer.\n"Notes" <G>',
    "chatPresence": False,
    "chatPresenceStatus": True,
    "chatPresenceDecoration": False,
    "chatPresenceClan": True,
    "chatPresenceBadges": False,
    "chatPresenceImage": True,
    "chatPresenceDetails": False,
    "alias": "Countess",
    "profileTitle": "The page of Ada",
    "profileDescription": "All about Ada",
    "profileFavicon": f"{CDN}/icons/favicon.png",
    "profileColor": "#d1d1d1",
    "profileBanner": f"{CDN}/banners/card.png",
    "typewriterDescriptions": ["First line", "Zweite Zeile: süß"],
    "typewriterEnabled": True,
    "cursorEffect": "trail",
    "cursorEffectColor": "#c1c1c1",
    "cursorEffectEnabled": True,
    "font": "Inter",
    "animatedTitle": True,
    "badgeGlowStrength": 11,
    "iconGlowStrength": 12,
    "textGlowStrength": 13,
}
PROFILE: Json = {
    **SHARED,
    "aboutMe": "I weave **algebra**.",
    "aboutMeTitle": "Section 2",
    "aboutMeDescription": "Described",
    "backgroundEffectSettings": {"speed": 1.5},
    **{
        f"{part}{name[0].upper()}{name[1:]}": SETTINGS[f"{part}Settings"][name]
        for part in ("aboutMe", "presence", "projects", "skills")
        for name in CUSTOMIZATION
    },
    "aboutMeTextColor": "#f1f1f1",
    "projectsTextColor": "#040404",
    "skillsTextColor": "#010101",
    "aboutMeEnabled": False,
    "skillsEnabled": True,
    "chatPresenceLeft": "on the left",
    "chatPresenceRight": "on the right",
    "profileAnimation": "float",
    "profileEnterAnimation": "split",
    "profileSoundEffect": f"{CDN}/sounds/enter.mp3",
    "aliasRedirect": True,
    "profileAvatarEnabled": False,
    "profileUsernameEnabled": False,
    "profileLinkEnabled": False,
    "typewriterSpeed": 90,
    "typewriterDeleteSpeed": 41,
    "typewriterDelay": 1500,
    "fontCustom": f"{CDN}/fonts/own.woff2",
    "animatedTitleType": "scroll",
    "projectsMode": "grid",
    "projectsTitle": "What I made",
    "projectsDescription": "In my spare time",
    "skillsFrontend": ["html"],
    "skillsBackend": ["python"],
    "skillsDatabase": ["sql"],
    "skillsCore": ["maths"],
}
BADGES = [
    {"badgeId": "viewer", "color": "#222222", "enabled": True, "obtainedAt": JOINED},
    {"badgeId": "meetup", "color": "", "enabled": False, "obtainedAt": JOINED},
]
MINE, ICON = f"{CDN}/badges/mine.png", ""  # a custom badge with an icon has no image
AUDIOS: list[Json] = [
    {
        "title": "Engine song",
        "audioUrl": f"{CDN}/audio/1.mp3",
        "coverUrl": f"{CDN}/covers/1.png",
        "duration": 180,
        "active": True,
    },
    {"title": "Untold", "audioUrl": f"{CDN}/audio/2.ogg", "coverUrl": "", "duration": 0, "active": True},
    {"title": "Hidden", "audioUrl": f"{CDN}/audio/3.mp3", "coverUrl": "", "duration": 3.5, "active": False},
]
LINKS: list[Json] = [
    {"title": "Code", "url": "https://code.example.org/ada", "active": True, "color": "#333333"},
    {"title": "Notes", "url": "https://notes.example.org/?a=1&b=2", "active": True, "color": ""},
    {"title": "", "url": "ada#1815", "active": True, "color": ""},
    {"title": "Hidden", "url": "https://hidden.example.org/", "active": False, "color": ""},
]
WHOLE: Json = {
    "id": ADA,
    "uid": 1,
    "username": "Ada",
    "alias": {"name": "Countess", "redirect": True, "profileId": None},
    "displayUsername": "Ada Example",
    "banned": False,
    "createdAt": JOINED,
    "chatId": "80351110224678912",
    "profile": PROFILE,
    "badges": BADGES,
    "customBadges": [
        {"badgeName": "Mine", "imageUrl": MINE, "enabled": True, "createdAt": JOINED},
        {"badgeName": "", "imageUrl": ICON, "enabled": False, "createdAt": JOINED},
    ],
    "links": [{**link, "clicks": clicks} for link, clicks in zip(LINKS, (2**40, 3, 0, 0), strict=True)],
    "audios": [
        {**audio, "externalUrl": url}
        for audio, url in zip(AUDIOS, ("https://songs.example.org/1", "", ""), strict=True)
    ],
    "backgrounds": [
        {"id": row(0xE1), "backgroundUrl": f"{CDN}/backgrounds/1.png", "active": False},
        {"id": row(0xE2), "backgroundUrl": f"{CDN}/backgrounds/2.mp4", "active": True},
        {"id": row(0xE3), "backgroundUrl": f"{CDN}/backgrounds/3.png", "active": True},
    ],
    "viewCount": 1234,
}
BOARD_PROFILE: Json = {
    **SHARED,
    "background": f"{CDN}/backgrounds/2.mp4",
    "chatServer": "ada on chatServer",
    "socialPreference": "ada on socialPreference",
    "gameUsername": "ada on gameUsername",
    "messagingChannel": "ada on messagingChannel",
    "scrobblerUsername": "ada_listens",
    "statsUsername": "ada on statsUsername",
    "location": "London",
    "profileBlur": 7,
    "profileOpacity": 82.5,
    "gradientAngle": 45,
    "borderWidth": 3,
    "borderRadius": 24,
    "borderOpacity": 61,
    "cursor": f"{CDN}/cursors/arrow.png",
    "decoration": "ring",
    "usernameEffect": "rainbow",
    "accentColor": "#a1a1a1",
    "textColor": "#a2a2a2",
    "backgroundColor": "#a3a3a3",
    "iconColor": "#a4a4a4",
    "primaryColor": "#a5a5a5",
    "secondaryColor": "#a6a6a6",
    "enterText": "Come in",
    "badgeColor": "#111111",
    "borderColor": "#b1b1b1",
    "Gradient": True,
    "volumeControl": False,
    "parallax": True,
    "badgeMonochrome": True,
    "badgeGlow": True,
    "borderEnabled": True,
    "viewsEnabled": False,
    "iconGlow": True,
    "iconMonochrome": True,
    "shuffleAudio": True,
    "audioPlayer": False,
    "profileFeedback": True,
}
BOARD_USER: Json = {
    "id": 1,
    "username": "Ada",
    "displayName": "Ada Example",
    "chatId": "80351110224678912",
    "isVerified": True,
    "isBanned": False,
    "createdAt": JOINED,
    "profile": BOARD_PROFILE,
    "badges": BADGES,
    "customBadges": [
        {"badgeName": "Mine", "imageUrl": MINE, "enabled": True},
        {"badgeName": "", "imageUrl": ICON, "enabled": False},
    ],
    "links": LINKS,
    "audios": AUDIOS,
    "viewCount": 1234,
}
