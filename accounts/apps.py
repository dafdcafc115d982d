from django.apps import AppConfig
from django.db.backends.signals import connection_created


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Accounts and keys"

    def ready(self) -> None:
        from accounts import database_connections  # once apps are loaded

        connection_created.connect(database_connections.hold, dispatch_uid="accounts.database_connections")
