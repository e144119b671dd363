"""
Forecasts: the future steps of a rollout, computed by the planner.

A forecast is made by the planner itself: plan, apply the plan to a model of the cluster, plan
again, until nothing is left to do. One function does it, ``forecast.forecast``; a page or a command
that has a ``Picture`` calls ``views.forecasts.forecast_picture`` and turns the view into JSON as
every other view. An object whose workloads other controllers run (``Api.delegation``) has a
forecast of objects instead: ``views.object_forecasts.forecast_delegated`` takes the same picture.
Nothing here reads a clock or a cluster, and nothing is ever written.
"""
