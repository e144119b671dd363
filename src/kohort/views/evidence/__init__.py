"""What a verdict rests on beside a workload's own objects and pods."""
