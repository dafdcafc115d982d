from django.apps import AppConfig
from django.db.backends.signals import connection_created


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Accounts and keys"

    def ready(self) -> None:
        from accounts import database_connections, engine_time  # once apps are loaded

        connection_created.connect(database_connections.hold, dispatch_uid="accounts.database_connections")
        connection_created.connect(engine_time.watch, dispatch_uid="accounts.engine_time")
