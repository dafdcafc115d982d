"""What the service tells its operators: logs, metrics, traces, errors."""
