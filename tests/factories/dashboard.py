"""What people ask of staff."""

import factory
from django.utils import timezone

from accounts.models import Permission
from dashboard.models import AccessRequest
from tests.factories import ModelFactory
from tests.factories.accounts import ApiKeyFactory, UserFactory


class AccessRequestFactory(ModelFactory[AccessRequest]):
    """Asks for the scope `email`, and waits."""

    class Meta:
        model = AccessRequest

    user = factory.SubFactory(UserFactory)
    kind = AccessRequest.Kind.SCOPE
    subject = "email"
    reason = "To send receipts."


class PermissionRequestFactory(AccessRequestFactory):
    """Asks for `lookup:user` for a key of the same user."""

    kind = AccessRequest.Kind.PERMISSION
    subject = Permission.LOOKUP_USER.value
    key = factory.SubFactory(ApiKeyFactory, owner=factory.SelfAttribute("..user"))


class DeniedRequestFactory(AccessRequestFactory):
    state = AccessRequest.State.DENIED
    answer = "Tell us who you are first."
    decided_by = factory.SubFactory(UserFactory, is_staff=True)
    decided_at = factory.LazyFunction(timezone.now)
