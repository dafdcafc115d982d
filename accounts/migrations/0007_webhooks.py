"""Adds the endpoints of webhooks and their deliveries.

Safe beside the previous release: it reads and writes neither table. An app or user whom it deletes leaves endpoints
behind, which get no more messages.
"""

import accounts.models.webhooks
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_key_origins'),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.CharField(max_length=512)),
                ('events', models.JSONField(default=list)),
                ('secret', models.TextField()),
                ('previous_secret', models.TextField(blank=True, default='')),
                ('previous_secret_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('disabled_at', models.DateTimeField(null=True)),
                ('disabled_by', models.CharField(blank=True, choices=[('OWNER', 'Paused by you'), ('FAILING', 'Disabled: every delivery of three days failed'), ('GONE', 'Disabled: it answered 410 Gone')], default='', max_length=8)),
                ('failing_since', models.DateTimeField(null=True)),
                ('is_slow', models.BooleanField(default=True)),
                ('application', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='webhook_endpoints', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('user', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='webhook_endpoints', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'default_permissions': ('view', 'delete'),
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message_id', models.CharField(default=accounts.models.webhooks.new_message_id, editable=False, max_length=40, unique=True)),
                ('client_id', models.CharField(blank=True, default='', max_length=64)),
                ('type', models.CharField(max_length=32)),
                ('subject', models.CharField(blank=True, default='', max_length=32)),
                ('data', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, null=True)),
                ('claimed_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('delivered_at', models.DateTimeField(null=True)),
                ('last_at', models.DateTimeField(null=True)),
                ('last_status', models.PositiveSmallIntegerField(null=True)),
                ('last_error', models.CharField(blank=True, default='', max_length=200)),
                ('last_answer', models.TextField(blank=True, default='', max_length=1000)),
                ('last_ms', models.PositiveIntegerField(null=True)),
                ('endpoint', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='accounts.webhookendpoint')),
            ],
            options={
                'default_permissions': ('view',),
            },
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('application__isnull', False), ('user', None)), models.Q(('application', None), ('user__isnull', False)), _connector='OR'), name='webhook_endpoint_of_one'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('disabled_at', None), ('disabled_by', '')), models.Q(('disabled_at__isnull', False), models.Q(('disabled_by', ''), _negated=True)), _connector='OR'), name='webhook_endpoint_says_why'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='webhook_delivery_due'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(condition=models.Q(('due_at__isnull', False)), fields=['endpoint', 'due_at', 'id'], name='webhook_delivery_next'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(condition=models.Q(('claimed_until__isnull', False)), fields=['endpoint', 'client_id'], name='webhook_delivery_claimed'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(condition=models.Q(('due_at__isnull', False)), fields=['endpoint', 'subject', 'id'], name='webhook_delivery_in_order'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(fields=['endpoint', '-id'], name='webhook_delivery_newest'),
        ),
        migrations.AddConstraint(
            model_name='webhookdelivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('endpoint', None), ('type', 'logout'), models.Q(('client_id', ''), _negated=True)), models.Q(('client_id', ''), ('endpoint__isnull', False), models.Q(('type', 'logout'), _negated=True)), _connector='OR'), name='webhook_delivery_to_one'),
        ),
    ]
