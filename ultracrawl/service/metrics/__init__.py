"""The numbers of the service: what sources hold, what disks have left, and `collector.Metrics` for Prometheus."""
