"""Where Django looks for the admin. The toolkit registers the five classes that its settings name."""

from oidc_provider.applications import admin as applications
from oidc_provider.authorize import admin as authorize
from oidc_provider.token import admin as token

__all__ = ["applications", "authorize", "token"]
