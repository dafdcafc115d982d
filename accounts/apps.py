from django.apps import AppConfig
from django.db.backends.signals import connection_created


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Accounts and keys"

    def ready(self) -> None:
        from accounts import browser_sessions  # noqa: F401 - it receives Django's signals
        from infrastructure.databases import statements  # once apps are loaded
        from infrastructure.metrics import engine_time  # once apps are loaded

        connection_created.connect(statements.hold, dispatch_uid="infrastructure.databases.statements")
        connection_created.connect(engine_time.watch, dispatch_uid="infrastructure.metrics.engine_time")
