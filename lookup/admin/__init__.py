"""The admin of profiles. Every write brings what lookups serve along, in its own transaction.

Not registered: the salts of visits, which are secrets.
"""

from lookup.admin.aliases import AliasAdmin
from lookup.admin.assets import AssetAdmin
from lookup.admin.badges import BadgeAdmin, CustomBadgeAdmin, ProfileBadgeAdmin
from lookup.admin.content import AudioAdmin, BackgroundAdmin, LinkAdmin, ProjectAdmin, WidgetAdmin
from lookup.admin.documents import LeaderboardEntryAdmin, ProfileDocumentAdmin, UserDocumentAdmin, VisitAdmin
from lookup.admin.profiles import ProfileAdmin
from lookup.admin.sections import (
    AnimeAdmin,
    GalleryItemAdmin,
    GameAdmin,
    MediaTitleAdmin,
    MusicItemAdmin,
    SectionAdmin,
)
from lookup.admin.social import CommentAdmin, CommentLikeAdmin, FeedbackVoteAdmin

__all__ = [
    "AliasAdmin",
    "AnimeAdmin",
    "AssetAdmin",
    "AudioAdmin",
    "BackgroundAdmin",
    "BadgeAdmin",
    "CommentAdmin",
    "CommentLikeAdmin",
    "CustomBadgeAdmin",
    "FeedbackVoteAdmin",
    "GalleryItemAdmin",
    "GameAdmin",
    "LeaderboardEntryAdmin",
    "LinkAdmin",
    "MediaTitleAdmin",
    "MusicItemAdmin",
    "ProfileAdmin",
    "ProfileBadgeAdmin",
    "ProfileDocumentAdmin",
    "ProjectAdmin",
    "SectionAdmin",
    "UserDocumentAdmin",
    "VisitAdmin",
    "WidgetAdmin",
]
