import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('dashboard', '0001_access_requests'),
    ]

    initial = True

    dependencies = [
        ('accounts', '__first__'),
    ]

    operations = [
        migrations.CreateModel(
            name='AccessRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='access_requests', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(choices=[('SCOPE', 'Scope'), ('PERMISSION', 'Key permission')], max_length=16)),
                ('subject', models.CharField(max_length=32)),
                ('key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='access_requests', to='accounts.apikey')),
                ('reason', models.TextField(help_text='What it is needed for, in the words of who asks.', max_length=2000)),
                ('state', models.CharField(choices=[('PENDING', 'Waits for staff'), ('GRANTED', 'Granted'), ('DENIED', 'Denied'), ('WITHDRAWN', 'Withdrawn')], default='PENDING', max_length=16)),
                ('answer', models.TextField(blank=True, help_text='What staff answered; who asked reads it.', max_length=2000)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'permissions': [('decide_accessrequest', 'Can decide what people ask of staff')],
                'indexes': [models.Index(fields=['state', 'created_at'], name='access_request_queue')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('kind', 'SCOPE'), ('state', 'PENDING')), fields=('user', 'subject'), name='access_request_one_for_each_scope'), models.UniqueConstraint(condition=models.Q(('kind', 'PERMISSION'), ('state', 'PENDING')), fields=('key', 'subject'), name='access_request_one_for_each_permission'), models.CheckConstraint(condition=models.Q(models.Q(('key__isnull', True), ('kind', 'SCOPE')), models.Q(('key__isnull', False), ('kind', 'PERMISSION')), _connector='OR'), name='access_request_key_goes_with_permission'), models.CheckConstraint(condition=models.Q(('state__in', ['PENDING', 'GRANTED', 'DENIED', 'WITHDRAWN'])), name='access_request_state_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('state', 'PENDING')), models.Q(models.Q(('state', 'PENDING'), _negated=True), ('decided_at__isnull', False)), _connector='OR'), name='access_request_decided_at_a_moment')],
            },
        ),
    ]
