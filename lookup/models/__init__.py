"""Everything that profiles are made of, and the read model that lookups serve."""

from lookup.models.badges import Badge, BadgeTier, CustomBadge, ProfileBadge, UnlockRule
from lookup.models.content import Audio, Background, Link, Project, Widget
from lookup.models.counts import Board, LeaderboardEntry, LinkDay, ProfileDay, Visit, VisitBatch, VisitSalt
from lookup.models.documents import ProfileDocument, UserDocument
from lookup.models.profiles import Alias, Asset, Profile
from lookup.models.sections import Anime, GalleryItem, Game, MediaTitle, MusicItem, Section
from lookup.models.social import Comment, CommentLike, FeedbackVote, ProfileBlock, Report

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
    "LinkDay",
    "MediaTitle",
    "MusicItem",
    "Profile",
    "ProfileBadge",
    "ProfileBlock",
    "ProfileDay",
    "ProfileDocument",
    "Project",
    "Report",
    "Section",
    "UnlockRule",
    "UserDocument",
    "Visit",
    "VisitBatch",
    "VisitSalt",
    "Widget",
]
