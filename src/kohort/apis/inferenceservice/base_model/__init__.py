"""BaseModel and ClusterBaseModel: how far models are on nodes, by what the model agent writes."""
