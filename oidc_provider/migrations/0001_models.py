import django.db.models.deletion
import django.utils.timezone
import oauth2_provider.models
import oidc_provider.models.applications
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('oidc_provider', '0001_initial'),
        ('oidc_provider', '0002_request_log'),
        ('oidc_provider', '0003_answered_requests'),
        ('oidc_provider', '0004_account_choice'),
        ('oidc_provider', '0005_indexes_of_tokens'),
        ('oidc_provider', '0006_index_of_unused_codes'),
        ('oidc_provider', '0007_longer_request_ids'),
    ]

    initial = True

    dependencies = [
        ('accounts', '__first__'),
    ]

    operations = [
        migrations.CreateModel(
            name='Application',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('redirect_uris', models.TextField(blank=True, help_text='Allowed URIs list, space separated', verbose_name='redirect URIs')),
                ('post_logout_redirect_uris', models.TextField(blank=True, default='', help_text='Allowed Post Logout URIs list, space separated', verbose_name='post logout redirect URIs')),
                ('hash_client_secret', models.BooleanField(default=True, verbose_name='hash client secret')),
                ('skip_authorization', models.BooleanField(default=False, verbose_name='skip authorization')),
                ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('allowed_origins', models.TextField(blank=True, default='', help_text='Allowed origins list to enable CORS, space separated', verbose_name='allowed origins')),
                ('registration_source', models.CharField(choices=[('manual', 'Manual'), ('dcr', 'Dynamic Client Registration'), ('cimd', 'Client ID Metadata Document')], default='manual', help_text='How this application was registered (manual, DCR per RFC 7591, or CIMD)', max_length=32, verbose_name='registration source')),
                ('cimd_expires_at', models.DateTimeField(blank=True, default=None, help_text='When the cached Client ID Metadata Document should be re-fetched', null=True, verbose_name='CIMD expires at')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='applications', to=settings.AUTH_USER_MODEL)),
                ('client_id', models.CharField(default=oidc_provider.models.applications.new_client_id, editable=False, max_length=64, unique=True)),
                ('client_secret', oauth2_provider.models.ClientSecretField(editable=False, max_length=255)),
                ('name', models.CharField(max_length=64)),
                ('client_type', models.CharField(choices=[('confidential', 'Confidential')], default='confidential', editable=False, max_length=32)),
                ('authorization_grant_type', models.CharField(choices=[('authorization-code', 'Authorization code')], default='authorization-code', editable=False, max_length=44)),
                ('algorithm', models.CharField(choices=[('EdDSA', 'Ed25519')], default='EdDSA', editable=False, max_length=5)),
                ('registered_scopes', models.JSONField(default=list)),
                ('homepage_url', models.URLField(blank=True)),
                ('privacy_url', models.URLField(blank=True)),
                ('terms_url', models.URLField(blank=True)),
                ('support_url', models.URLField(blank=True)),
                ('is_verified', models.BooleanField(default=False)),
                ('suspended_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('suspension_reason', models.TextField(blank=True, editable=False)),
                ('secret_changed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'permissions': [('suspend_application', 'Can suspend and restore an app'), ('verify_application', 'Can verify an app'), ('reset_secret_application', "Can reset an app's secret")],
                'constraints': [models.CheckConstraint(condition=models.Q(('algorithm', 'EdDSA'), ('authorization_grant_type', 'authorization-code'), ('client_type', 'confidential'), ('hash_client_secret', True), ('skip_authorization', False)), name='application_is_confidential')],
            },
        ),
        migrations.CreateModel(
            name='ApplicationLogo',
            fields=[
                ('application', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='logo', serialize=False, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('png', models.BinaryField()),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='RequestRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='request_records', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('moment', models.DateTimeField()),
                ('kind', models.CharField(choices=[('ASKED', 'Sign-in asked for'), ('SHOWN', 'Consent shown'), ('APPROVED', 'Consent given'), ('KEPT', 'Consent kept from before'), ('DENIED', 'Consent refused'), ('CODE', 'Code exchanged'), ('TRIED', 'Code exchanged by Try it'), ('REFRESH', 'Tokens refreshed'), ('TOKEN', 'Another token request'), ('USERINFO', 'User info read'), ('INTROSPECT', 'Token introspected'), ('REVOKE', 'Token revoked')], max_length=16)),
                ('outcome', models.CharField(default='ok', max_length=32)),
                ('description', models.CharField(blank=True, max_length=300)),
                ('redirect_uri', models.CharField(blank=True, max_length=300)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('network', models.CharField(blank=True, max_length=43)),
                ('request_id', models.CharField(max_length=64)),
            ],
            options={
                'indexes': [models.Index(fields=['application', '-moment'], name='request_record_newest'), models.Index(fields=['moment'], name='request_record_moment')],
            },
        ),
        migrations.CreateModel(
            name='UsageCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='usage_counts', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('hour', models.DateTimeField()),
                ('kind', models.CharField(choices=[('ASKED', 'Sign-in asked for'), ('SHOWN', 'Consent shown'), ('APPROVED', 'Consent given'), ('KEPT', 'Consent kept from before'), ('DENIED', 'Consent refused'), ('CODE', 'Code exchanged'), ('TRIED', 'Code exchanged by Try it'), ('REFRESH', 'Tokens refreshed'), ('TOKEN', 'Another token request'), ('USERINFO', 'User info read'), ('INTROSPECT', 'Token introspected'), ('REVOKE', 'Token revoked')], max_length=16)),
                ('outcome', models.CharField(max_length=32)),
                ('count', models.PositiveBigIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['hour'], name='usage_count_hour')],
                'constraints': [models.UniqueConstraint(fields=('application', 'hour', 'kind', 'outcome'), name='usage_count_one_for_each'), models.CheckConstraint(condition=models.Q(('count__gt', 0)), name='usage_count_is_some')],
            },
        ),
        migrations.CreateModel(
            name='LastUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='last_uses', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('used_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['application', 'used_at'], name='last_use_newest'), models.Index(fields=['used_at'], name='last_use_moment')],
                'constraints': [models.UniqueConstraint(fields=('application', 'user'), name='last_use_one_for_app_and_user')],
            },
        ),
        migrations.CreateModel(
            name='Approval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='approvals', to=settings.AUTH_USER_MODEL)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='approvals', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('scopes', models.JSONField(default=list)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'application'), name='approval_one_for_user_and_app')],
            },
        ),
        migrations.CreateModel(
            name='PendingRequest',
            fields=[
                ('id', models.CharField(max_length=43, primary_key=True, serialize=False)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pending_requests', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('redirect_uri', models.TextField()),
                ('scopes', models.JSONField(default=list)),
                ('state', models.TextField()),
                ('nonce', models.TextField(blank=True)),
                ('code_challenge', models.CharField(max_length=43)),
                ('asks_consent', models.BooleanField(default=False)),
                ('asks_account', models.BooleanField(db_default=False, default=False)),
                ('must_authenticate_after', models.DateTimeField(null=True)),
                ('expected_user_id', models.CharField(blank=True, max_length=32)),
                ('created_at', models.DateTimeField(db_index=True)),
                ('answered_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(app_label)s_%(class)s', to=settings.AUTH_USER_MODEL, verbose_name='user')),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL, verbose_name='application')),
                ('expires', models.DateTimeField(verbose_name='expires')),
                ('redirect_uri', models.TextField(verbose_name='redirect URI')),
                ('scope', models.TextField(blank=True, verbose_name='scope')),
                ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('code_challenge', models.CharField(blank=True, default='', max_length=128, verbose_name='code challenge')),
                ('code_challenge_method', models.CharField(blank=True, choices=[('plain', 'plain'), ('S256', 'S256')], default='', max_length=10, verbose_name='code challenge method')),
                ('claims', models.TextField(blank=True, verbose_name='claims')),
                ('resource', oauth2_provider.models.ResourceJSONField(blank=True, default=list, verbose_name='resource')),
                ('code', models.CharField(max_length=64, unique=True)),
                ('nonce', models.TextField(blank=True, default='')),
                ('auth_time', models.BigIntegerField(help_text='When the user signed in, in UNIX seconds.')),
                ('token_family', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('used_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['expires'], name='grant_expires'), models.Index(condition=models.Q(('used_at__isnull', True)), fields=['expires'], name='grant_unused')],
            },
        ),
        migrations.CreateModel(
            name='AccessToken',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('token', models.TextField(verbose_name='token')),
                ('token_checksum', oauth2_provider.models.TokenChecksumField(db_index=True, max_length=64, unique=True, verbose_name='token checksum')),
                ('application', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL, verbose_name='application')),
                ('expires', models.DateTimeField(verbose_name='expires')),
                ('scope', models.TextField(blank=True, verbose_name='scope')),
                ('resource', oauth2_provider.models.ResourceJSONField(blank=True, default=list, verbose_name='resource')),
                ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='access_tokens', to=settings.AUTH_USER_MODEL)),
                ('token_family', models.UUIDField(editable=False)),
            ],
            options={
                'indexes': [models.Index(fields=['token_family'], name='access_token_family'), models.Index(fields=['expires'], name='access_token_expires')],
            },
        ),
        migrations.CreateModel(
            name='RefreshToken',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('token', models.TextField(verbose_name='token')),
                ('token_checksum', oauth2_provider.models.TokenChecksumField(max_length=64, verbose_name='token checksum')),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL, verbose_name='application')),
                ('resource', oauth2_provider.models.ResourceJSONField(blank=True, default=list, verbose_name='resource')),
                ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('revoked', models.DateTimeField(null=True, verbose_name='revoked')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='refresh_tokens', to=settings.AUTH_USER_MODEL)),
                ('token_family', models.UUIDField(editable=False)),
                ('scope', models.TextField()),
                ('auth_time', models.BigIntegerField(help_text='When the user signed in, in UNIX seconds.')),
                ('expires_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['token_family'], name='refresh_token_family'), models.Index(fields=['expires_at'], name='refresh_token_expires')],
                'constraints': [models.UniqueConstraint(fields=('token_checksum',), name='refresh_token_unique')],
            },
        ),
        migrations.CreateModel(
            name='IDToken',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(app_label)s_%(class)s', to=settings.AUTH_USER_MODEL, verbose_name='user')),
                ('jti', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='JWT Token ID')),
                ('application', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL, verbose_name='application')),
                ('expires', models.DateTimeField(verbose_name='expires')),
                ('scope', models.TextField(blank=True, verbose_name='scope')),
                ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='SigningKey',
            fields=[
                ('kid', models.CharField(max_length=43, primary_key=True, serialize=False)),
                ('public_key', models.CharField(help_text='The 32 bytes in base64url: `x` of the key set.', max_length=43)),
                ('private_key', models.TextField(editable=False)),
                ('is_signing', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(help_text='Since when the key is in the key set.')),
                ('signing_since', models.DateTimeField(null=True)),
                ('unpublish_at', models.DateTimeField(help_text='When the key leaves the key set.', null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_signing', True)), fields=('is_signing',), name='signing_key_one_signs')],
            },
        ),
    ]
