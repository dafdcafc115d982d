from django.db import migrations


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.RunSQL(
            "ALTER TABLE accounts_user ADD COLUMN altered integer", "ALTER TABLE accounts_user DROP COLUMN altered"
        )
    ]
