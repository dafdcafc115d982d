"""URLs of the endpoints, and of the pages: every name that is not reserved, so they come after all other URLs."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from accounts.models.names import NAME_REGEX, RESERVED_KEYS
from lookup.views import api, batches, cards, discussion, people, profile_page, reporting


class NameConverter(StringConverter):
    """A username or an alias; never a reserved word, which names a path of the service or may do so later."""

    regex = NAME_REGEX

    def to_python(self, value: str) -> str:
        """Return the name. Raises ValueError, Django's "no match", for a reserved one."""
        if value.upper() in RESERVED_KEYS:
            raise ValueError
        return value


class LinkIdConverter(StringConverter):
    """The id of a link or a comment."""

    regex = "[0-9a-f]{32}"


register_converter(NameConverter, "name")
register_converter(LinkIdConverter, "link_id")

urlpatterns = [
    path("api/lookup/user", api.UserLookup.as_view()),
    path("api/lookup/users", batches.UsersLookup.as_view()),
    path("api/lookup/username/<str:username>", api.UsernameLookup.as_view()),
    path("api/lookup/uid/<str:uid>", api.UidLookup.as_view()),
    path("api/leaderboard/views", api.ViewsLeaderboard.as_view()),
    path("api/leaderboard/badges", api.BadgesLeaderboard.as_view()),
    path("api/leaderboard/uid", api.UidLeaderboard.as_view()),
    path("api/chat/avatar/<str:user_id>", api.ChatAvatar.as_view()),
]

page_patterns = [
    path("leaderboard", people.first_board, name="leaderboard"),
    path("leaderboard/<slug:board>", people.show_board, name="leaderboard_board"),
    path("search", people.search, name="search"),
    path("profile/style.css", profile_page.style, name="profile_style"),
    path("profile/themes.css", profile_page.themes_style, name="profile_themes_style"),
    path("<name:name>", profile_page.show, name="profile_page"),
    path("<name:name>/", profile_page.without_slash),
    path("<name:name>/links/<link_id:link_id>", profile_page.follow, name="profile_link"),
    path("<name:name>/vote", discussion.vote, name="profile_vote"),
    path("<name:name>/comments", discussion.comments_page, name="profile_comments"),
    path("<name:name>/comments/<link_id:comment_id>", discussion.thread, name="profile_thread"),
    path("<name:name>/comments/<link_id:comment_id>/report", reporting.report, name="profile_comment_report"),
    path("<name:name>/share", profile_page.share, name="profile_share"),
    path("<name:name>/qr.svg", profile_page.qr_code, name="profile_qr"),
    path("<name:name>/card.svg", cards.show, name="profile_card"),
    path("<name:name>/report", reporting.report, name="profile_report"),
    path("<name:name>/comments/<link_id:comment_id>/<slug:act>", discussion.act, name="profile_comment_act"),
    path("<name:name>/moderation", discussion.show_moderation, name="profile_moderation"),
    path("<name:name>/moderation/<slug:act>", discussion.moderate, name="profile_moderation_act"),
]
