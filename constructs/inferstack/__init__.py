"""A YAML model spec in, one CloudFormation stack for a SageMaker inference endpoint out."""
