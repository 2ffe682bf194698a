"""Metrics of the service for Prometheus (`collector.Metrics`), and the numbers of sources and of the machine."""
