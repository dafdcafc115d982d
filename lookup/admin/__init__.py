"""The admin of profiles. Each write updates what lookups serve in its own transaction.

Not registered: the salts of visits, which are secrets, and the views and clicks by day, which are for owners.
"""

from lookup.admin import aliases, content, profiles, social

__all__ = ["aliases", "content", "profiles", "social"]
