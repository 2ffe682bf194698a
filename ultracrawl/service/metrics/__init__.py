"""The numbers of the service: what sources hold and disks have left, and `collector.Metrics`, which tells Prometheus."""
