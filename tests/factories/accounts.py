"""Users, their addresses, names, keys and linked accounts."""

from typing import Any

import factory
from allauth.account.models import EmailAddress

from accounts.models import ApiKey, EventType, LinkedAccount, Name, Permission, User, WebhookEndpoint
from accounts.models.names import NameKind
from accounts.webhooks import signatures
from infrastructure.hashing import digest
from tests.factories import ModelFactory

PASSWORD = "correct horse battery staple"


class UserFactory(ModelFactory[User]):
    """A user with a verified email address who signs in with PASSWORD.

    `email_verified=False`: the address waits for its code. `email=""`: no address.
    """

    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda number: f"Person{number}")
    email = factory.LazyAttribute(lambda user: f"{user.username}@example.org".lower())
    password = PASSWORD

    @classmethod
    def _create(cls, model_class: type[User], *args: Any, **kwargs: Any) -> User:  # noqa: ARG003 - factory_boy's form
        return model_class.objects.create_user(**kwargs)

    @factory.post_generation  # type: ignore[untyped-decorator]  # factory_boy gives it no type
    def email_verified(self: Any, create: bool, extracted: bool | None) -> None:
        """`self` is the new user; factory_boy leaves `extracted` None unless the caller says something."""
        if create and self.email:
            is_verified = True if extracted is None else extracted
            EmailAddress.objects.create(user=self, email=self.email, verified=is_verified, primary=True)


class StaffFactory(UserFactory):
    """An operator who may do everything."""

    username = factory.Sequence(lambda number: f"Staff{number}")
    is_staff = True
    is_superuser = True


class AliasFactory(ModelFactory[Name]):
    class Meta:
        model = Name

    name = factory.Sequence(lambda number: f"Alias{number}")
    key = factory.LazyAttribute(lambda alias: alias.name.upper())
    kind = NameKind.ALIAS
    user = factory.SubFactory(UserFactory)


class LinkedAccountFactory(ModelFactory[LinkedAccount]):
    class Meta:
        model = LinkedAccount

    user = factory.SubFactory(UserFactory)
    kind = LinkedAccount.Kind.CHAT
    external_id = factory.Sequence(lambda number: str(80351110224678912 + number))
    name = factory.Sequence(lambda number: f"chatter{number}")


class ApiKeyFactory(ModelFactory[ApiKey]):
    """A key whose value is `secret`: `ApiKeyFactory(secret="...")`."""

    class Meta:
        model = ApiKey

    class Params:
        secret = factory.Sequence(lambda number: f"key-of-the-tests-{number}")

    owner = factory.SubFactory(UserFactory)
    name = "A key"
    prefix = factory.Sequence(lambda number: f"pre{number}")
    secret_hash = factory.LazyAttribute(lambda key: digest(key.secret))
    permissions = factory.LazyFunction(lambda: [Permission.ACCOUNT.value])


class WebhookEndpointFactory(ModelFactory[WebhookEndpoint]):
    """An endpoint of `user` or of `application`, for all of its events."""

    class Meta:
        model = WebhookEndpoint

    url = factory.Sequence(lambda number: f"https://hooks.example.org/{number}")
    events = factory.LazyAttribute(
        lambda endpoint: [event.value for event in EventType if event.is_of_app == hasattr(endpoint, "application")]
    )
    secret = factory.LazyFunction(lambda: signatures.encrypted(signatures.new_secret()))
