"""Places on leaderboards say whether their user is new there."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("lookup", "0012_reports"),
    ]

    operations = [
        migrations.AddField(
            model_name="leaderboardentry",
            name="is_new",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
