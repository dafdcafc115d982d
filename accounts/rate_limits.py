"""The table of all rate limits."""

from datetime import timedelta

from infrastructure.limits import DAY, HOUR, Limit

# docs/spec/shared.md, "Rate limits"
API_ADDRESS = Limit("api", 60, "requests of an address under /api/, /api/auth/ aside")
API_KEY = Limit("key", 30, "requests with an API key")
API_PREMIUM_KEY = Limit("key", 60, "requests with an API key whose owner has premium")
PROTOCOL = Limit("protocol", 100, "requests of an address to an endpoint under /api/auth/; discovery is not limited")
# Our own
FOLDER_GUESSES = Limit("folder-guesses", 5, "passwords that an address tries at a folder")
FOLDER_GUESSES_OF_ADDRESS = Limit("folder-guesses-of", 30, "passwords that an address tries; each is hashed slowly")
FOLDER_GUESSES_AT_FOLDER = Limit("folder-guesses-at", 100, "passwords that are tried at a folder, by all addresses")
PAGE_UPLOADS = Limit("page-uploads", 120, "files that a user uploads on pages of the image host")
PROFILE_UPLOADS = Limit("profile-uploads", 60, "files that a user uploads for profiles")
ARCHIVES = Limit("archives", 5, "archives that an address downloads")
COMMENTS = Limit("comments", 30, "comments and replies that a user sends in an hour, refused ones too", window=HOUR)
REPORTS = Limit("reports", 20, "reports that a user sends in an hour, refused ones too", window=HOUR)
VOTES = Limit("votes", 200, "votes and likes that a user gives or withdraws in an hour", window=HOUR)
INVITATIONS = Limit("invitations", 50, "invitations that a user sends in a day", window=DAY)
CLAIM_NEWS = Limit("claim-news", 30, "changes of a user in an hour of which apps hear by webhook", window=HOUR)
SEARCHES = Limit("searches", 30, "searches for people of an address")
MAILS = Limit("mails", 5, "emails to an address in an hour", window=HOUR)
MAILS_OF_A_DAY = Limit("mails-of-a-day", 20, "emails to an address in a day", window=DAY)
NOTICES = Limit("notices", 5, "notices to an address in an hour, once it has had its emails", window=HOUR)
NOTICES_OF_A_DAY = Limit("notices-of-a-day", 20, "notices to an address in a day, likewise", window=DAY)
# Events that the audit trail takes: counted by `take`
SIGN_IN_FAILURES = Limit("sign-in-failures", 5, "failed sign-ins of an account that are recorded", window=HOUR)
ALL_SIGN_IN_FAILURES = Limit("all-sign-in-failures", 1_000, "failed sign-ins that are recorded", window=HOUR)
# Counted by `take`, also where RATE_LIMITS_ENABLED is off
PASSKEY_CHALLENGES = Limit("passkey-challenge", 1, "attempts with one challenge", window=timedelta(minutes=10))
# Of the chat platform: counted by `take`
CHAT_REST = Limit("chat-rest", 10, "requests to the chat platform's REST routes", window=timedelta(seconds=1))
CHAT_REST_USERS = Limit("chat-rest-banner", 7, "requests for one user to those routes", window=timedelta(seconds=1))


# A request that asks for several users or members at once.
MAX_BATCH = 50  # values
VALUES_OF_A_REQUEST = 10


def batch_cost(values: int) -> int:
    """Return how many requests of its key a batch of so many values counts for: one for each 10 begun, at least 1."""
    return max(-(-values // VALUES_OF_A_REQUEST), 1)
