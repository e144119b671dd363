"""The controllers of Jobs and CronJobs: pods that run to their end, now or by a schedule."""
