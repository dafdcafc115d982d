"""Views and clicks by day, for the owners of profiles."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('lookup', '0014_display_names_by_prefix'),
    ]

    operations = [
        migrations.CreateModel(
            name='LinkDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField(db_index=True)),
                ('clicks', models.PositiveIntegerField()),
                ('link', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='days', to='lookup.link')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('link', 'day'), name='link_day_is_unique')],
            },
        ),
        migrations.CreateModel(
            name='ProfileDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField(db_index=True)),
                ('host', models.CharField(blank=True, max_length=100)),
                ('views', models.PositiveIntegerField()),
                ('profile', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='days', to='lookup.profile')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('profile', 'day', 'host'), name='profile_day_host_is_unique')],
            },
        ),
    ]
