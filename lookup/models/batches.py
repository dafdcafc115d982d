"""Which batches of counted views and clicks have reached the tables."""

from django.db import models


class VisitBatch(models.Model):
    """Written in the transaction that adds the batch's counts, so that a batch that comes again adds nothing."""

    token = models.CharField(max_length=64, primary_key=True)
    folded_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.token
