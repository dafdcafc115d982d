from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0010_job_reports"),
    ]

    operations = [
        migrations.AlterModelOptions(name="apikey", options={"verbose_name": "API key"}),
    ]
