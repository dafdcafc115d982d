"""The errors of the image host, in the document's words."""

from accounts import errors
from accounts.errors import ApiError


class Unauthorized(ApiError):
    """The key is missing, unknown, or may not. `error`: which of them, in the words of the key check."""

    status = 401
    error = "API key missing, invalid or without the permission for this."
    code = "UNAUTHORIZED"

    def __init__(self, error: str = "") -> None:
        super().__init__(error)
        self.error = error or self.error


class NoFile(ApiError):
    error = "No file attached. Send multipart/form-data with the file in the field `file`."
    code = "NO_FILE"

    def __init__(self, error: str = "") -> None:
        super().__init__(error)
        self.error = error or self.error


class InvalidMime(ApiError):
    error = "File type not allowed. Allowed are png, jpeg, webp, gif, avif, mp4, webm and mov."
    code = "INVALID_MIME"


class QuotaExceeded(ApiError):
    error = "The upload would exceed your total storage."
    code = "QUOTA_EXCEEDED"


class FileTooLarge(ApiError):
    """`maximum`: the plan's, in bytes."""

    status = 413
    code = "FILE_TOO_LARGE"

    def __init__(self, maximum: int) -> None:
        super().__init__(maximum)
        self.error = f"File too large. Maximum size is {maximum} bytes."


class UploadFailed(ApiError):
    """Nothing is stored and nothing is booked; the same request may be sent again."""

    status = 500
    error = "The file could not be stored. Please try again."
    code = "UPLOAD_FAILED"


class UploadsUnavailable(errors.Unavailable):
    """The database or the limit store does not answer. Nothing is stored; the same request may be sent again."""

    error = "Files cannot be stored at the moment. Please try again."
    code = "UNAVAILABLE"


class Busy(UploadsUnavailable):
    """The process reads as many large bodies as it may. Nothing of this one was read."""

    error = "Too many uploads at the same time. Please try again in a few seconds."

    def headers(self) -> dict[str, str]:
        return {"Retry-After": "5"}


class InvalidBody(ApiError):
    """`error`: what is wrong with which field."""

    error = "The body must be a JSON object."
    code = "INVALID_BODY"

    def __init__(self, error: str = "") -> None:
        super().__init__(error)
        self.error = error or self.error


class InvalidLimit(ApiError):
    error = "limit must be a whole number from 1 to 100."
    code = "INVALID_LIMIT"


class InvalidOffset(ApiError):
    error = "offset must be a whole number of at least 0."
    code = "INVALID_OFFSET"


class FolderExists(ApiError):
    status = 409
    error = "There is a folder of this name already."
    code = "FOLDER_EXISTS"


class FolderNotFound(ApiError):
    """None, or somebody else's: nobody can tell the two apart."""

    status = 404
    error = "Folder not found."
    code = "FOLDER_NOT_FOUND"
