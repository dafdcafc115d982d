from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("lookup", "0002_profiles_of_users")]

    operations = [
        migrations.CreateModel(
            name="VisitBatch",
            fields=[
                ("token", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("folded_at", models.DateTimeField(db_index=True)),
            ],
        ),
    ]
