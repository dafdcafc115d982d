"""Live presence in the database."""

from django.db import models


class LastOnline(models.Model):
    """When a member of the chat server was last seen going offline. Deleted when the member leaves."""

    chat_id = models.BigIntegerField(primary_key=True, help_text="The account's id on the chat platform.")
    at = models.DateTimeField(help_text="The latest moment at which the member went offline.")

    class Meta:
        verbose_name_plural = "last online"

    def __str__(self) -> str:
        return f"{self.chat_id}: {self.at:%Y-%m-%d %H:%M:%S}"


class StoreEntry(models.Model):
    """A value of the presence store where that is Django's cache on the database (`store.database_cache`)."""

    cache_key = models.CharField(primary_key=True, max_length=255)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "store entries"

    def __str__(self) -> str:
        return self.cache_key
