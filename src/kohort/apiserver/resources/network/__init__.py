"""Services, endpoints, ingresses and network policies, as built-in kinds."""
