"""The admin of profiles. Every write brings what lookups serve along, in its own transaction.

Not registered: the salts of visits, which are secrets, and the views and clicks by day, which are for owners.
"""

from lookup.admin.aliases import AliasAdmin
from lookup.admin.badges import BadgeAdmin, CustomBadgeAdmin, ProfileBadgeAdmin
from lookup.admin.content import (
    AnimeAdmin,
    AssetAdmin,
    AudioAdmin,
    BackgroundAdmin,
    GalleryItemAdmin,
    GameAdmin,
    LinkAdmin,
    MediaTitleAdmin,
    MusicItemAdmin,
    ProjectAdmin,
    SectionAdmin,
    WidgetAdmin,
)
from lookup.admin.profiles import (
    LeaderboardEntryAdmin,
    ProfileAdmin,
    ProfileDocumentAdmin,
    UserDocumentAdmin,
    VisitAdmin,
)
from lookup.admin.social import CommentAdmin, CommentLikeAdmin, FeedbackVoteAdmin, ReportAdmin

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
    "ReportAdmin",
    "SectionAdmin",
    "UserDocumentAdmin",
    "VisitAdmin",
    "WidgetAdmin",
]
