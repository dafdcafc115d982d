"""The last use of each secret that was made before, from the hourly counts, which a page read before.

Alone, since it reads the counts of 90 days: beside a new column, all sign-ins would wait for it.

Safe beside the previous release: it sets a column that that release does not know.
"""

from django.db import migrations
from django.db.models import Max, OuterRef, Subquery

PROVED_BY_SECRET = ("CODE", "REFRESH", "INTROSPECT", "REVOKE")


def note_uses(apps, schema_editor):
    counts = apps.get_model("oidc_provider", "UsageCount").objects.filter(
        application=OuterRef("pk"), kind__in=PROVED_BY_SECRET, outcome="ok", hour__gte=OuterRef("secret_changed_at")
    )
    newest = counts.order_by().values("application").annotate(newest=Max("hour")).values("newest")
    unknown = apps.get_model("oidc_provider", "Application").objects.filter(secret_used_at=None)
    unknown.update(secret_used_at=Subquery(newest))


class Migration(migrations.Migration):
    dependencies = [("oidc_provider", "0005_staging_apps")]
    operations = [migrations.RunPython(note_uses, migrations.RunPython.noop)]
