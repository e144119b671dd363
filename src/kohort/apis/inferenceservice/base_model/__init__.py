"""BaseModel and ClusterBaseModel: on which nodes a model is ready, as the model agent reports."""
