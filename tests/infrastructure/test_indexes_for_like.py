"""Which keys PostgreSQL can look for by their beginning."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection

WITH_INDEX = """
    SELECT t.relname, a.attname
    FROM pg_index i
    JOIN pg_class t ON t.oid = i.indrelid
    JOIN pg_opclass o ON o.oid = i.indclass[0] AND o.opcname IN ('varchar_pattern_ops', 'text_pattern_ops')
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
"""


@pytest.mark.django_db
def test_of_all_keys_only_those_of_names_have_an_index_for_like() -> None:
    keys = {
        (model._meta.db_table, field.column)
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.local_fields
        if field.primary_key or field.is_relation
    }
    with connection.cursor() as cursor:
        cursor.execute(WITH_INDEX)
        found = set(cursor.fetchall())
    assert found & keys == {("accounts_name", "key"), ("lookup_alias", "name_id")}
    assert ("accounts_apikey", "prefix") in found  # no key: Django's index stays
