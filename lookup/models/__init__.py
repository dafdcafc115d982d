"""Everything that profiles are made of, and the read model that lookups serve."""

from lookup.models.assets import Asset
from lookup.models.badges import Badge, BadgeTier, CustomBadge, ProfileBadge, UnlockRule
from lookup.models.boards import Board, LeaderboardEntry
from lookup.models.content import Audio, Background, Link, Project, Widget
from lookup.models.documents import ProfileDocument, UserDocument
from lookup.models.profiles import Alias, Profile
from lookup.models.sections import Anime, GalleryItem, Game, MediaTitle, MusicItem, Section
from lookup.models.social import Comment, CommentLike, FeedbackVote
from lookup.models.visits import Visit, VisitBatch, VisitSalt

__all__ = [
    "Alias",
    "Anime",
    "Asset",
    "Audio",
    "Background",
    "Badge",
    "BadgeTier",
    "Board",
    "Comment",
    "CommentLike",
    "CustomBadge",
    "FeedbackVote",
    "GalleryItem",
    "Game",
    "LeaderboardEntry",
    "Link",
    "MediaTitle",
    "MusicItem",
    "Profile",
    "ProfileBadge",
    "ProfileDocument",
    "Project",
    "Section",
    "UnlockRule",
    "UserDocument",
    "Visit",
    "VisitBatch",
    "VisitSalt",
    "Widget",
]
