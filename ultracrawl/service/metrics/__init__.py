"""The numbers of the service in the form of Prometheus; `Metrics` collects them when they are asked for."""

from ultracrawl.service.metrics.collector import Metrics

__all__ = ["Metrics"]
