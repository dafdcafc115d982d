"""Found and mounted by allauth."""

from allauth.socialaccount.providers.oauth2.urls import default_urlpatterns

from accounts.chat_provider.provider import ChatProvider

urlpatterns = default_urlpatterns(ChatProvider)
