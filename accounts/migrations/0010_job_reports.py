from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0009_audit_export"),
    ]

    operations = [
        migrations.AddField(
            model_name="jobrun",
            name="failures",
            field=models.PositiveIntegerField(db_default=0, default=0, help_text="In a row; 0 after a success."),
        ),
        migrations.AddField(
            model_name="jobrun",
            name="is_reported",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Operators know by e-mail that it fails or is late, and not yet more.",
            ),
        ),
        migrations.AddField(
            model_name="jobrun",
            name="reported_at",
            field=models.DateTimeField(blank=True, help_text="When the last e-mail said so.", null=True),
        ),
    ]
