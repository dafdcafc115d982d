from django.apps import AppConfig


class ImageHostConfig(AppConfig):
    name = "imagehost"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Image host"
