from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0008_second_factor_of_staff"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="auditevent",
            options={"permissions": [("export_auditevent", "Can export the audit trail")]},
        ),
    ]
