"""The errors of the image host (docs/spec/image-host.md)."""

from accounts import rate_limits
from imagehost import media
from infrastructure.requests import errors
from infrastructure.requests.errors import ApiError


class _OwnText(Exception):
    """`error`: the text of this error, where it differs from its class's."""

    error: str

    def __init__(self, error: str = "") -> None:
        super().__init__(error)
        self.error = error or self.error


class Unauthorized(_OwnText, ApiError):
    """The key is missing, invalid or lacks the permission. `error`: the text of the key check."""

    status = 401
    error = "API key missing, invalid or without the permission for this."
    code = "UNAUTHORIZED"


class NoFile(_OwnText, ApiError):
    error = "No file attached. Send multipart/form-data with the file in the field `file`."
    code = "NO_FILE"
    cause = "The request has no part `file`, or is not `multipart/form-data`."
    fix = "Send the file as a part named `file`, and let your library write the `Content-Type` with its boundary."


class InvalidMime(ApiError):
    error = f"File type not allowed. Allowed are {media.LABELS}."
    code = "INVALID_MIME"
    cause = "The file's content is of a type that is not allowed. Its name and the type that you send are ignored."
    fix = "Convert the file. SVG, HTML and archives are refused, and so is a file that hides one type in another."


class QuotaExceeded(ApiError):
    error = "The upload would exceed your total storage."
    code = "QUOTA_EXCEEDED"
    cause = "The file is larger than the rest of your storage."
    fix = "Delete files, or choose a larger plan."


class FileTooLarge(ApiError):
    """`maximum`: the plan's, in bytes."""

    status = 413
    code = "FILE_TOO_LARGE"
    cause = "The file is larger than your plan allows. The text names the maximum in bytes."
    fix = "Make the file smaller, or choose a larger plan."

    def __init__(self, maximum: int) -> None:
        super().__init__(maximum)
        self.error = f"File too large. Maximum size is {maximum} bytes."


class UploadFailed(ApiError):
    """Nothing is stored or booked; the request may be retried."""

    status = 500
    error = "The file could not be stored. Please try again."
    code = "UPLOAD_FAILED"
    cause = "Writing to the storage failed. Nothing is stored or counted."
    retry_after = 10
    fix = "Send the same request again after the seconds in `Retry-After`."


class UploadsUnavailable(errors.Unavailable):
    """The database or the limit store does not answer. Nothing is stored; the request may be retried."""

    error = "Files cannot be stored at the moment. Please try again."
    code = "UNAVAILABLE"
    cause = "The database or the limit store does not answer. Nothing is stored."
    fix = "Send the same request again after the seconds in `Retry-After`."


class Busy(UploadsUnavailable):
    """The process reads its maximum of large bodies. This one was not read."""

    error = "Too many uploads at the same time. Please try again in a few seconds."
    cause = "The service receives its maximum of large files at once. This one was not read."
    retry_after = 5
    fix = "Send the same request again after the seconds in `Retry-After`, and fewer files at the same time."


class TooManyUploads(ApiError):
    """The user is over `rate_limits.PAGE_UPLOADS`, which counts files sent on pages."""

    status = 429
    code = "RATE_LIMITED"

    def __init__(self, seconds_left: int) -> None:
        super().__init__(seconds_left)
        self.retry_after = seconds_left
        self.error = f"At most {rate_limits.PAGE_UPLOADS.amount} files a minute. Try again in {seconds_left} s."


class CostlyUploads(ApiError):
    """The examination of the user's latest files took more of a processor than uploads may take (`storing.turns`)."""

    status = 429
    code = "RATE_LIMITED"
    cause = "The examination of your latest files took too long. Nothing of this one is stored."
    fix = "Send the same request again after the seconds in `Retry-After`."

    def __init__(self, seconds_left: int) -> None:
        super().__init__(seconds_left)
        self.retry_after = seconds_left
        self.error = f"Your latest files took too long to examine. Try again in {seconds_left} s."


class InvalidBody(_OwnText, ApiError):
    """`error`: the field and its problem."""

    error = "The body must be a JSON object."
    code = "INVALID_BODY"
    cause = "The body is not a JSON object, or a field in it breaks a rule, which the text names."
    fix = "Send `Content-Type: application/json` and the fields of the table."


class InvalidLimit(ApiError):
    error = "limit must be a whole number from 1 to 100."
    code = "INVALID_LIMIT"
    cause = "`limit` is not a whole number from 1 to 100."
    fix = "Correct it, or leave it out."


class InvalidOffset(ApiError):
    error = "offset must be a whole number of at least 0."
    code = "INVALID_OFFSET"
    cause = "`offset` is not a whole number, or is below 0."
    fix = "Correct it, or leave it out."


class FolderExists(ApiError):
    status = 409
    error = "There is a folder of this name already."
    code = "FOLDER_EXISTS"
    cause = "You have a folder of this name."
    fix = "Choose another name, or use the existing folder."


class FolderNotFound(ApiError):
    """The folder is unknown or another user's."""

    status = 404
    error = "Folder not found."
    code = "FOLDER_NOT_FOUND"
    cause = "None of your folders has this id."
    fix = "List your folders and take the `id` from there, not the name."
