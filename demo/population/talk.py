"""Votes, comments, replies and likes of earlier members on the profile of a later one.

Members write on later profiles only, so a new member changes no existing row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from django.db.models import Model

from demo.population import people
from demo.population.people import LATEST, Member, user_id
from infrastructure.databases import bulk
from lookup.models import Comment, CommentLike, FeedbackVote

MOST_COMMENTS, MOST_VOTES, MOST_LIKES = 400, 400, 60


@dataclass
class Talk:
    votes: list[FeedbackVote] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    replies: list[Comment] = field(default_factory=list)
    likes: list[CommentLike] = field(default_factory=list)

    def authors(self) -> set[str]:
        return {
            *(vote.voter_id for vote in self.votes),
            *(comment.author_id for comment in [*self.comments, *self.replies]),
            *(like.user_id for like in self.likes),
        }

    def leave_out_all_but(self, present: Mapping[str, bool]) -> None:
        """Drop rows of deleted members. `present`: whether each of the existing ones is active."""
        self.votes = [vote for vote in self.votes if vote.voter_id in present]
        self.comments = [comment for comment in self.comments if comment.author_id in present]
        kept = {comment.pk for comment in self.comments}
        self.replies = [reply for reply in self.replies if reply.author_id in present and reply.parent_id in kept]
        kept |= {reply.pk for reply in self.replies}
        self.likes = [like for like in self.likes if like.user_id in present and like.comment_id in kept]

    def count(self, present: Mapping[str, bool]) -> dict[str, int]:
        """Set the counters of the comments and return the profile's. Banned users do not count, as in
        `lookup.documents.counters`."""
        likes = Counter(like.comment_id for like in self.likes if present[like.user_id])
        replies = Counter(reply.parent_id for reply in self.replies if present[reply.author_id])
        for comment in [*self.comments, *self.replies]:
            comment.like_count, comment.reply_count = likes[comment.pk], replies[comment.pk]
        votes = Counter(vote.is_like for vote in self.votes if present[vote.voter_id])
        comments = sum(present[comment.author_id] for comment in self.comments)
        return {"likes": votes[True], "dislikes": votes[False], "comments": comments}

    def rows(self) -> Iterator[Model]:
        yield from (*self.votes, *self.comments, *self.replies, *self.likes)


def about(member: Member) -> Talk:
    """Make the rows of a profile; their number grows with its views."""
    rng, talk, number = member.rng, Talk(), member.number
    voters = int(member.views**0.5 / 6 * rng.uniform(0.5, 1.5))
    for voter in _earlier(member, min(voters, number // 2, MOST_VOTES)):
        at = rng.timestamp(member.joined_at, LATEST)
        talk.votes.append(
            bulk.build(FeedbackVote, user=member.user, voter_id=voter, is_like=rng.chance(0.92), created_at=at)
        )
    comments = min(MOST_COMMENTS, int(member.views**0.55 / 8 * rng.uniform(0.4, 1.6))) if number else 0
    for _ in range(comments):
        _add_comment(member, talk)
    if len(talk.comments) >= 3 and rng.chance(0.3):
        for comment in rng.some(talk.comments, 1, 2):
            comment.is_pinned = True
    return talk


def _add_comment(member: Member, talk: Talk) -> None:
    rng = member.rng
    comment = _said(member, rng.randrange(member.number), people.comment(rng))
    talk.comments.append(comment)
    _add_likes(member, talk, comment, eagerness=0.15)
    answering = [member.number] if rng.chance(0.25) else []
    if rng.chance(0.1):
        answering += [rng.randrange(member.number) for _ in range(rng.randint(1, 4))]
    for number in answering:
        reply = _said(member, number, rng.choice(people.texts.REPLIES), parent=comment)
        talk.replies.append(reply)
        _add_likes(member, talk, reply, eagerness=0.06)


def _said(member: Member, author: int, content: str, parent: Comment | None = None) -> Comment:
    rng = member.rng
    return bulk.build(
        Comment,
        id=rng.new_id(),
        user=member.user,
        author_id=member.user.pk if author == member.number else user_id(member.seed, author),
        parent=parent,
        content=content,
        created_at=rng.timestamp(parent.created_at if parent else member.joined_at, LATEST),
    )


def _add_likes(member: Member, talk: Talk, comment: Comment, *, eagerness: float) -> None:
    rng = member.rng
    wanted = int(eagerness / (1 - rng.random()))
    for liker in _earlier(member, min(wanted, member.number, MOST_LIKES)):
        at = rng.timestamp(comment.created_at, LATEST)
        talk.likes.append(bulk.build(CommentLike, comment=comment, user_id=liker, created_at=at))


def _earlier(member: Member, count: int) -> Iterator[str]:
    """Yield the ids of `count` different earlier members."""
    return (user_id(member.seed, number) for number in member.rng.sample(range(member.number), count))
