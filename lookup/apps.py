from django.apps import AppConfig


class LookupConfig(AppConfig):
    name = "lookup"
    default_auto_field = "django.db.models.BigAutoField"
