"""Automatic schedules for GPUs: blocks, warps, threads, with a model of what holds them back."""
