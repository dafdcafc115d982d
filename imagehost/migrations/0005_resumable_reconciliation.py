"""`reconcile_files` keeps how far it has come; quarantined files, which are few, get an index."""

from django.conf import settings
from django.db import migrations, models

from infrastructure.databases.indexes import AddIndexWithoutLock


class Migration(migrations.Migration):

    atomic = False  # CONCURRENTLY is refused in a transaction
    dependencies = [
        ('imagehost', '0004_move_quarantined_objects'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Reconciliation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField()),
                ('is_after_restore', models.BooleanField(default=False)),
                ('stage', models.CharField(choices=[('OWNERS', 'Owners'), ('QUARANTINE', 'Quarantine'), ('REMOVAL', 'Removal')], default='OWNERS', max_length=10)),
                ('done_until', models.CharField(blank=True, max_length=32)),
                ('parts', models.PositiveIntegerField(default=0)),
                ('found', models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='StrayObject',
            fields=[
                ('key', models.CharField(max_length=1024, primary_key=True, serialize=False)),
            ],
        ),
        AddIndexWithoutLock(
            model_name='file',
            index=models.Index(condition=models.Q(('quarantined_at__isnull', False)), fields=['id'], name='imagehost_file_quarantined'),
        ),
    ]
