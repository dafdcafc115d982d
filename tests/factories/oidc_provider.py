"""Apps with a known secret, approvals, waiting requests (signing keys: `signing.ensure_signing_key()`)."""

from collections.abc import Sequence

import factory
from django.utils import timezone

from infrastructure.hashing import SecretHasher
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.models import Application, Approval, PendingRequest
from tests.factories import ModelFactory
from tests.factories.accounts import UserFactory

CLIENT_SECRET = "the-secret-of-the-apps-of-the-tests-43-chars"
REDIRECT_URL = "https://app.example.org/callback"
CODE_VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636, appendix B
CODE_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


class ApplicationFactory(ModelFactory[Application]):
    """An app with every scope, one redirect URL and the secret `secret` (CLIENT_SECRET).

    `redirect_urls=[...]` registers others.
    """

    class Meta:
        model = Application

    class Params:
        secret = CLIENT_SECRET
        redirect_urls: Sequence[str] = (REDIRECT_URL,)

    user = factory.SubFactory(UserFactory)
    name = factory.Sequence(lambda number: f"App {number}")
    registered_scopes = factory.LazyFunction(lambda: list(SCOPES))
    redirect_uris = factory.LazyAttribute(lambda application: " ".join(application.redirect_urls))
    client_secret = factory.LazyAttribute(lambda application: SecretHasher().encode(application.secret, ""))


class SuspendedApplicationFactory(ApplicationFactory):
    suspended_at = factory.LazyFunction(timezone.now)
    suspension_reason = "It broke the rules."


class ApprovalFactory(ModelFactory[Approval]):
    class Meta:
        model = Approval

    user = factory.SubFactory(UserFactory)
    application = factory.SubFactory(ApplicationFactory)
    scopes = factory.LazyFunction(lambda: ["openid"])
    created_at = factory.LazyFunction(timezone.now)
    updated_at = factory.SelfAttribute("created_at")


class PendingRequestFactory(ModelFactory[PendingRequest]):
    class Meta:
        model = PendingRequest

    id = factory.Sequence(lambda number: f"pending-{number}")
    application = factory.SubFactory(ApplicationFactory)
    redirect_uri = REDIRECT_URL
    scopes = factory.LazyFunction(lambda: ["openid"])
    state = "the-state"
    code_challenge = CODE_CHALLENGE
    created_at = factory.LazyFunction(timezone.now)
