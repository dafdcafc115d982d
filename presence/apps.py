from django.apps import AppConfig


class PresenceConfig(AppConfig):
    name = "presence"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Live presence"
