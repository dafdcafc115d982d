"""What the media page shows of each file that a profile may have."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.models import LinkedAccount
from dashboard import editing
from dashboard.forms.profile import KINDS, MediaForm
from lookup import settings_schema
from lookup.models import Asset, Profile
from lookup.uploads import MIB, Kind


@dataclass(frozen=True)
class Place:
    title: str
    lead: str


PLACES = {
    "avatar": Place("Picture", "You, or what stands for you. Square pictures look best."),
    "banner": Place("Banner", "Above your name, about three times as wide as high."),
    "metadata_favicon": Place("Icon of the page", "In the tab of the browser; a square picture."),
    "metadata_banner": Place("Preview picture", "What messengers show of your page, about twice as wide as high."),
    "cursor": Place("Cursor", "For programs that show it; browsers take pictures of up to 128 by 128 pixels."),
    "cursor_pointer": Place("Cursor on links", "The same, over what can be pressed."),
    "font_asset": Place("Font", "Of the page, in programs that show it."),
    "font_username_asset": Place("Font of the name", "Of your name alone, in programs that show it."),
    "sound_effect_asset": Place("Sound of the page", "In programs that play it."),
    "sound_effect_button_asset": Place("Sound of buttons", "When something is pressed, in programs that play it."),
}


@dataclass(frozen=True)
class Card:
    place: str
    title: str
    lead: str
    asset: Asset | None
    is_image: bool
    is_sound: bool
    form: MediaForm
    upload_url: str
    remove_url: str

    @property
    def facts(self) -> str:
        """Of the file, in words."""
        if self.asset is None:
            return ""
        parts = [self.asset.mime]
        if self.asset.width and self.asset.height:
            parts.append(f"{self.asset.width} by {self.asset.height} pixels")
        if self.asset.duration is not None:
            parts.append(f"{self.asset.duration:.1f} seconds")
        if self.asset.size is not None:
            size = self.asset.size
            parts.append(f"{size / MIB:.1f} MiB" if size >= MIB // 10 else f"{-(-size // 1024)} KiB")
        return ", ".join(parts)


@dataclass(frozen=True)
class ChatPicture:
    """Whether the picture of the chat platform is shown, and whether there is an account that it could come from."""

    is_shown: bool
    is_linked: bool


def of(profile: Profile, refused: MediaForm | None) -> list[Card]:
    """One for each place; `refused` stands in for the empty form of its own place. 1 query."""
    assets = Asset.objects.in_bulk([pk for place in PLACES if (pk := getattr(profile, f"{place}_id"))])
    return [
        Card(
            place=place,
            title=said.title,
            lead=said.lead,
            asset=assets.get(getattr(profile, f"{place}_id")),
            is_image=KINDS[place] is Kind.IMAGE,
            is_sound=KINDS[place] is Kind.AUDIO,
            form=refused if refused and refused.place == place else MediaForm(profile=profile, place=place),
            upload_url=editing.url_of(profile, "profile_media_upload", place=place),
            remove_url=editing.url_of(profile, "profile_media_remove", place=place),
        )
        for place, said in PLACES.items()
    ]


def chat_picture_of(profile: Profile) -> ChatPicture:
    """1 query."""
    accounts = LinkedAccount.objects.filter(user=profile.user_id, kind=LinkedAccount.Kind.CHAT)
    chosen = settings_schema.filled(profile.settings)["avatarSettings"]["mirrorChat"]
    return ChatPicture(is_shown=chosen, is_linked=accounts.exists())
