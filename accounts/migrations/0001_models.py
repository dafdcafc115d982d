import accounts.models.users
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.utils.timezone
import infrastructure.databases.folding
import infrastructure.text_rules
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('accounts', '0001_initial'),
        ('accounts', '0002_public_flags'),
        ('accounts', '0003_job_runs'),
        ('accounts', '0004_key_days_and_deletions'),
        ('accounts', '0005_docs_in_markdown'),
        ('accounts', '0006_plain_names'),
        ('accounts', '0007_public_version'),
        ('accounts', '0008_second_factor_of_staff'),
        ('accounts', '0009_audit_export'),
        ('accounts', '0010_job_reports'),
        ('accounts', '0011_name_of_api_keys'),
        ('accounts', '0012_folded_display_names'),
        ('accounts', '0013_fill_folded_display_names'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='JobRun',
            fields=[
                ('name', models.CharField(help_text='The command that does it.', max_length=64, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, help_text='Until its first success, lateness counts from here.')),
                ('lease_ends_at', models.DateTimeField(blank=True, help_text='Empty: no process runs it.', null=True)),
                ('leased_by', models.CharField(blank=True, help_text='Who runs it, or ran it last: one name for each run.', max_length=80)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('succeeded_at', models.DateTimeField(blank=True, null=True)),
                ('failed_at', models.DateTimeField(blank=True, null=True)),
                ('duration_ms', models.PositiveIntegerField(blank=True, help_text='Of the last run that ended.', null=True)),
                ('message', models.CharField(blank=True, help_text='What the last success did.', max_length=500)),
                ('last_error', models.CharField(blank=True, help_text='Empty again after a success.', max_length=500)),
                ('failures', models.PositiveIntegerField(db_default=0, default=0, help_text='In a row; 0 after a success.')),
                ('is_reported', models.BooleanField(db_default=False, default=False, help_text='Operators know by email that it fails or is late, and not yet more.')),
                ('reported_at', models.DateTimeField(blank=True, help_text='When the last email said so.', null=True)),
            ],
        ),
        migrations.CreateModel(
            name='UidCounter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('next_uid', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('uid', models.BigIntegerField(editable=False, unique=True)),
                ('username', models.CharField(max_length=32, validators=[django.core.validators.RegexValidator('\\A[A-Za-z0-9._-]{1,32}\\Z', 'Use 1 to 32 letters, digits, dots, hyphens or underscores (A-Z, a-z, 0-9, . _ -).')])),
                ('display_name', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('display_name_folded', infrastructure.databases.folding.FoldedField(editable=False, max_length=64, null=True, of='display_name')),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('plan', models.CharField(choices=[('FREE', 'Free'), ('PREMIUM', 'Premium'), ('IMAGEHOST', 'ImageHost')], default='FREE', max_length=16)),
                ('plan_expires_at', models.DateTimeField(blank=True, help_text='Empty: the plan does not end.', null=True)),
                ('is_verified', models.BooleanField(default=False)),
                ('public_api_access', models.BooleanField(default=True, help_text='Off: lookups answer that the profile is private.')),
                ('is_inactive', models.BooleanField(db_default=False, default=False, help_text='Shown by lookups: has not signed in for a year.')),
                ('public_version', models.BigIntegerField(db_default=0, default=0, editable=False, help_text='Counts the changes of what others see of the account.')),
                ('unlocked_scopes', models.JSONField(blank=True, default=list, editable=False)),
                ('is_staff', models.BooleanField(default=False)),
                ('is_active', models.BooleanField(default=True, editable=False)),
                ('banned_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('second_factor_grace_from', models.DateTimeField(blank=True, editable=False, help_text='Of staff: from when the days without a second factor count. Empty: there are none.', null=True)),
                ('renamed_at', models.DateTimeField(blank=True, editable=False, help_text='When the person chose another username last.', null=True)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'permissions': [('ban_user', 'Can ban a user and lift a ban'), ('reset_password_user', "Can reset a user's password"), ('reset_second_factor_user', "Can remove a user's second factor"), ('unlock_scopes_user', 'Can unlock and relock scopes for a user')],
                'indexes': [models.Index(condition=models.Q(('display_name_folded__gt', '')), fields=['display_name_folded'], name='user_display_name_folded', opclasses=['varchar_pattern_ops'])],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Upper('username'), name='user_unique_username', violation_error_message='This name is already taken.'), models.CheckConstraint(condition=models.Q(('username__regex', '\\A[A-Za-z0-9._-]{1,32}\\Z')), name='user_username_characters'), models.CheckConstraint(condition=models.Q(('uid__gte', 0)), name='user_uid_not_negative'), models.CheckConstraint(condition=models.Q(('plan__in', ['FREE', 'PREMIUM', 'IMAGEHOST'])), name='user_plan_is_known'), models.CheckConstraint(condition=models.Q(('banned_at__isnull', True), ('is_active', False), _connector='OR'), name='user_banned_is_not_active')],
            },
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_keys', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('prefix', models.CharField(editable=False, help_text='Public: names the key in lists.', max_length=12, unique=True)),
                ('secret_hash', models.CharField(editable=False, max_length=64, unique=True)),
                ('permissions', models.JSONField(default=list, editable=False)),
                ('is_enabled', models.BooleanField(default=True)),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('expires_at', models.DateTimeField(blank=True, help_text='Empty: it does not end.', null=True)),
                ('remaining_uses', models.BigIntegerField(blank=True, help_text='Empty: no usage quota.', null=True)),
                ('refill_amount', models.BigIntegerField(blank=True, help_text='What a refill sets the quota to.', null=True)),
                ('refill_interval', models.DurationField(blank=True, null=True)),
                ('refilled_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now, editable=False)),
                ('form_id', models.CharField(editable=False, help_text='Of the form that made it: sent twice, it makes one key.', max_length=32, null=True)),
                ('replaced_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='replaces', to='accounts.apikey')),
                ('reminded_at', models.DateTimeField(blank=True, editable=False, help_text='When its owner was told that it ends soon.', null=True)),
            ],
            options={
                'verbose_name': 'API key',
                'constraints': [models.CheckConstraint(condition=models.Q(('remaining_uses__isnull', True), ('remaining_uses__gte', 0), _connector='OR'), name='api_key_uses_not_negative'), models.CheckConstraint(condition=models.Q(models.Q(('refill_amount__isnull', True), ('refill_interval__isnull', True)), models.Q(('refill_amount__gt', 0), ('refill_amount__isnull', False), ('refill_interval__isnull', False), ('remaining_uses__isnull', False)), _connector='OR'), name='api_key_refill_is_whole'), models.UniqueConstraint(fields=('owner', 'form_id'), name='api_key_one_for_each_form')],
            },
        ),
        migrations.CreateModel(
            name='KeyDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='days', to='accounts.apikey')),
                ('day', models.DateField(db_index=True)),
                ('count', models.PositiveBigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('key', 'day'), name='key_day_one_for_each_day'), models.CheckConstraint(condition=models.Q(('count__gt', 0)), name='key_day_counts_something')],
            },
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='audit_events', to=settings.AUTH_USER_MODEL)),
                ('actor_name', models.CharField(blank=True, help_text='Kept when the account is deleted.', max_length=64)),
                ('actor_kind', models.CharField(choices=[('USER', 'User'), ('STAFF', 'Staff'), ('SYSTEM', 'System')], max_length=8)),
                ('verb', models.CharField(help_text='For example application:suspended.', max_length=64)),
                ('object_type', models.CharField(max_length=64)),
                ('object_id', models.CharField(max_length=64)),
                ('object_name', models.CharField(max_length=255)),
                ('reason', models.TextField(blank=True)),
                ('data', models.JSONField(default=dict)),
                ('address', models.CharField(blank=True, help_text='The client address as it is counted by limits.', max_length=64)),
            ],
            options={
                'permissions': [('export_auditevent', 'Can export the audit trail')],
                'indexes': [models.Index(fields=['object_type', 'object_id', 'created_at'], name='audit_by_object')],
                'constraints': [models.CheckConstraint(condition=models.Q(('actor_kind__in', ['USER', 'STAFF', 'SYSTEM'])), name='audit_actor_kind_is_known')],
            },
        ),
        migrations.CreateModel(
            name='Name',
            fields=[
                ('key', models.CharField(max_length=32, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=32)),
                ('kind', models.CharField(choices=[('USERNAME', 'Username'), ('ALIAS', 'Alias')], max_length=8)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='names', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('key', django.db.models.functions.text.Upper(models.F('name')))), name='name_key_is_upper_name'), models.CheckConstraint(condition=models.Q(('name__regex', '\\A[A-Za-z0-9._-]{1,32}\\Z')), name='name_has_allowed_characters'), models.CheckConstraint(condition=models.Q(('key__in', ('.', '..', '.WELL-KNOWN', '2FA', 'ABOUT', 'ABUSE', 'ACCESS', 'ACCOUNT', 'ACCOUNTS', 'ADMIN', 'ADMINISTRATOR', 'ALIAS', 'ALIASES', 'ANONYMOUS', 'API', 'APP', 'APPS', 'ASSETS', 'AUTH', 'AVATAR', 'BADGES', 'BLOG', 'CHAT', 'CONNECT', 'CONSENT', 'CONTACT', 'DASHBOARD', 'DISCOVERY', 'DOCS', 'DOCS.MD', 'DOWNLOAD', 'EMAIL', 'ERROR', 'ERRORS', 'EXPLORE', 'FAQ', 'FAVICON.ICO', 'FEEDBACK', 'FILES', 'FOLDER', 'FOLDERS', 'GALLERY', 'GUEST', 'HEALTHZ', 'HELP', 'HOME', 'HOST', 'IMAGE', 'IMAGEHOST', 'IMAGES', 'INDEX', 'INVITE', 'JWKS', 'LEADERBOARD', 'LEGAL', 'LLMS.TXT', 'LOGIN', 'LOGOUT', 'LOOKUP', 'MAIL', 'ME', 'MEDIA', 'METRICS', 'MODERATOR', 'NULL', 'OAUTH', 'OAUTH2', 'OFFICIAL', 'OIDC', 'OPENID', 'OPERATOR', 'OWNER', 'PAGE', 'PASSWORD', 'PREMIUM', 'PRESENCE', 'PRICING', 'PRIVACY', 'PROFILE', 'READYZ', 'REGISTER', 'ROBOTS.TXT', 'ROOT', 'RULES', 'SCHEMA', 'SEARCH', 'SECURITY', 'SETTINGS', 'SETUP', 'SIGNIN', 'SIGNOUT', 'SIGNUP', 'SITEMAP.XML', 'STAFF', 'STATIC', 'STATUS', 'SUPPORT', 'SYSTEM', 'TEAM', 'TERMS', 'TOKEN', 'UNDEFINED', 'UPLOAD', 'UPLOADS', 'USER', 'USERNAME', 'USERS', 'VERIFY', 'WEBHOOK', 'WWW')), _negated=True), name='name_is_not_reserved'), models.CheckConstraint(condition=models.Q(('kind__in', ['USERNAME', 'ALIAS'])), name='name_kind_is_known'), models.UniqueConstraint(condition=models.Q(('kind', 'USERNAME')), fields=('user',), name='name_one_username_for_each_user')],
            },
        ),
        migrations.CreateModel(
            name='LinkedAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='linked_accounts', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(choices=[('CHAT', 'Chat platform'), ('SCROBBLER', 'Music scrobbler')], max_length=16)),
                ('external_id', models.CharField(help_text="The account's id there, as a string.", max_length=64)),
                ('name', models.CharField(help_text="The account's name there.", max_length=128)),
                ('avatar_url', models.URLField(blank=True, db_default='', default='', help_text="The account's picture there, when last seen.", max_length=500)),
                ('linked_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='linked_account_one_of_a_kind'), models.UniqueConstraint(fields=('kind', 'external_id'), name='linked_account_belongs_to_one_user'), models.CheckConstraint(condition=models.Q(('kind__in', ['CHAT', 'SCROBBLER'])), name='linked_account_kind_is_known')],
            },
        ),
        migrations.CreateModel(
            name='AccountDeletion',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='deletion', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('asked_at', models.DateTimeField()),
                ('due_at', models.DateTimeField(db_index=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('due_at__gt', models.F('asked_at'))), name='account_deletion_has_days_of_grace')],
            },
        ),
    ]
