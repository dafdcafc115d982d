"""The links that owners mark as own pages.

Safe beside the previous release: the columns have defaults. It renders documents without the marks; a process of this
release finds such a document stale, since its fingerprint names other code.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("lookup", "0004_reports_and_appeals")]
    operations = [
        migrations.AddField(
            model_name="link",
            name="is_own",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text='A page of its owner: the profile links to it with rel="me".',
            ),
        ),
        migrations.AddField(
            model_name="profiledocument",
            name="own_links",
            field=models.TextField(
                db_default="[]",
                default="[]",
                help_text="Ids of the links that the owner marks as own pages; in no answer.",
            ),
        ),
    ]
