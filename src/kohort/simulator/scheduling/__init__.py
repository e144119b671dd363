"""The simulated scheduler: which node each pod gets, pod by pod or gang by gang."""
