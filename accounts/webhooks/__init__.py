"""Webhooks: endpoints, the outbox, signatures and the delivery."""
