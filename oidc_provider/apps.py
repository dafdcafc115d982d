from django.apps import AppConfig


class OidcProviderConfig(AppConfig):
    name = "oidc_provider"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Sign-in provider"
