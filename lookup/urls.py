"""URLs of the lookups and leaderboards."""

from django.urls import path

from lookup.views import chat_avatar, current, earlier, leaderboards

urlpatterns = [
    path("api/lookup/user", current.UserLookup.as_view()),
    path("api/lookup/username/<str:username>", earlier.UsernameLookup.as_view()),
    path("api/lookup/uid/<str:uid>", earlier.UidLookup.as_view()),
    path("api/leaderboard/views", leaderboards.ViewsLeaderboard.as_view()),
    path("api/leaderboard/badges", leaderboards.BadgesLeaderboard.as_view()),
    path("api/leaderboard/uid", leaderboards.UidLeaderboard.as_view()),
    path("api/chat/avatar/<str:user_id>", chat_avatar.ChatAvatar.as_view()),
]
