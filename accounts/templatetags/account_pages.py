"""What the account pages need beside allauth's own tags."""

from __future__ import annotations

from django import template

from accounts import user_agents

register = template.Library()
register.filter("browser_name", user_agents.named)
