"""The fields of the two earlier profiles with their JSON types, as the sentences of document 2 list them."""

from __future__ import annotations

PREFIXES = ("aboutMe", "presence", "projects", "skills")
CHAT_PRESENCE = (
    "chatPresence chatPresenceStatus chatPresenceDecoration chatPresenceClan chatPresenceBadges chatPresenceImage "
    "chatPresenceDetails"
)


def _typed(*parts: tuple[type, str]) -> dict[str, type]:
    return {name: type_ for type_, names in parts for name in names.split()}


EARLIER_PROFILE = _typed(
    (float, "userId"),
    (str, "avatar theme banner backgroundEffect description aboutMe aboutMeTitle aboutMeDescription"),
    (dict, "backgroundEffectSettings"),
    *((bool, f"{prefix}Customization {prefix}BorderCustomization") for prefix in PREFIXES),
    *((str, f"{prefix}AccentColor {prefix}BorderColor") for prefix in PREFIXES),
    *(
        (float, f"{prefix}Opacity {prefix}BorderWidth {prefix}BorderRadius {prefix}BorderOpacity")
        for prefix in PREFIXES
    ),
    (str, "aboutMeTextColor projectsTextColor skillsTextColor"),
    (bool, "aboutMeEnabled skillsEnabled"),
    (bool, CHAT_PRESENCE),
    (str, "chatPresenceLeft chatPresenceRight"),
    (str, "alias profileTitle profileDescription profileFavicon profileColor profileBanner profileAnimation"),
    (str, "profileEnterAnimation profileSoundEffect"),
    (bool, "aliasRedirect profileAvatarEnabled profileUsernameEnabled profileLinkEnabled"),
    (list, "typewriterDescriptions"),
    (bool, "typewriterEnabled"),
    (float, "typewriterSpeed typewriterDeleteSpeed typewriterDelay"),
    (str, "cursorEffect cursorEffectColor font fontCustom animatedTitleType"),
    (bool, "cursorEffectEnabled animatedTitle"),
    (float, "badgeGlowStrength iconGlowStrength textGlowStrength"),
    (str, "projectsMode projectsTitle projectsDescription"),
    (list, "skillsFrontend skillsBackend skillsDatabase skillsCore"),
)
BOARD_PROFILE = _typed(
    (float, "userId"),
    (str, "avatar theme background banner backgroundEffect description chatServer socialPreference gameUsername"),
    (str, "messagingChannel scrobblerUsername statsUsername location"),
    (bool, CHAT_PRESENCE),
    (float, "profileBlur profileOpacity gradientAngle borderWidth borderRadius borderOpacity badgeGlowStrength"),
    (float, "iconGlowStrength textGlowStrength"),
    (str, "cursor decoration usernameEffect accentColor textColor backgroundColor iconColor primaryColor"),
    (str, "secondaryColor enterText badgeColor borderColor alias profileTitle profileDescription profileFavicon"),
    (str, "profileColor profileBanner cursorEffect cursorEffectColor font"),
    (bool, "Gradient volumeControl parallax badgeMonochrome badgeGlow borderEnabled viewsEnabled iconGlow"),
    (bool, "iconMonochrome shuffleAudio audioPlayer typewriterEnabled cursorEffectEnabled profileFeedback"),
    (bool, "animatedTitle"),
    (list, "typewriterDescriptions"),
)


def types_of(values: dict[str, object]) -> dict[str, type]:
    """The JSON type of each value; a number of any kind is a float here."""
    return {
        name: float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)
        for name, value in values.items()
    }
