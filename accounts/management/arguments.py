"""What the commands share: reading arguments, and errors in sentences."""

from django.core.exceptions import ValidationError
from django.core.management import CommandError

from accounts.models import User


def user_named(username: str) -> User:
    """The user with this name, in any case. CommandError where there is none."""
    user = User.objects.by_username(username).first()
    if user is None:
        raise CommandError(f"There is no user named {username}.")
    return user


def command_error(error: ValidationError) -> CommandError:
    """The sentences of `error`, each with the argument that it is about."""
    if hasattr(error, "error_dict"):
        lines = [f"{name}: {message}" for name, messages in error.message_dict.items() for message in messages]
    else:
        lines = error.messages
    return CommandError("\n".join(lines))
