"""Everything that profiles are made of, and the read model that lookups serve."""

from lookup.models.badges import Badge, BadgeTier, CustomBadge, ProfileBadge, UnlockRule
from lookup.models.content import Audio, Background, Link, Project, Widget
from lookup.models.counts import Board, LeaderboardEntry, LinkDay, ProfileDay, Visit, VisitBatch, VisitSalt
from lookup.models.decisions import Decision
from lookup.models.documents import ProfileDocument, UserDocument
from lookup.models.profiles import Alias, Asset, Profile
from lookup.models.sections import Anime, GalleryItem, Game, MediaTitle, MusicItem, Section
from lookup.models.social import Comment, CommentLike, FeedbackVote, ProfileBlock, Report
