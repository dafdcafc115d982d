"""The errors of the lookups and leaderboards (docs/spec/lookup.md)."""

from infrastructure.requests.errors import ApiError


class TypeInvalid(ApiError):
    error = "errors.lookupTypeInvalid"
    cause = "`type` is missing, or none of `username`, `uid`, `id` and `chat`."
    fix = "Send one of the four, in small letters."


class ValueInvalid(ApiError):
    error = "errors.lookupValueInvalid"
    cause = "`value` is missing, longer than 64 characters, or not a whole number for `type=uid`."
    fix = "Send 1 to 64 characters; a uid in plain digits, without sign or spaces."


class ValuesInvalid(ApiError):
    error = "errors.lookupValuesInvalid"
    cause = "`values` is missing, or no array of 1 to 50 strings, or one of them has half of a surrogate pair."
    fix = "Send more users in several requests, and a uid as a string, too."


class BatchInvalid(ApiError):
    error = "errors.lookupBodyInvalid"
    cause = (
        "The body is no JSON object in UTF-8, repeats a name, is nested too deeply, or has a switch that is neither "
        "`true` nor `false`."
    )
    fix = "Let a JSON library write the body, and send the header `Content-Length` that belongs to it."


class BatchTooLarge(ApiError):
    status = 413
    error = "errors.lookupBodyTooLarge"
    cause = "The body has more than 16,384 bytes. 50 values of 64 characters fit into it, in UTF-8."
    fix = "Send what the page of the endpoint names and nothing else, without `\\u` escapes and indentation."


class UserNotFound(ApiError):
    """The text must not contain "private": clients tell the two errors apart by that word."""

    status = 404
    error = "User not found."
    cause = "No user has this name, uid or id, or linked this chat account, or the user is banned."
    fix = "Check the value, and whether it is of the kind that the request names."


class ProfilePrivate(ApiError):
    status = 404
    error = "This profile is private."
    cause = "The user exists and has turned public API access off, or staff have hidden the profile."
    fix = "Show the user as private, and do not try another identifier. All of them answer the same."


class LimitInvalid(ApiError):
    error = "errors.leaderboardLimitInvalid"
    cause = "`limit` is not a whole number from 1 to 100."
    fix = "Leave it out, or correct it."
