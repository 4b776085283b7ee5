"""Logical ids that every stack of an endpoint has, and the metadata that says which spec a resource is from.

They are a public contract: another id is another resource, which replaces one in production.
"""

ENDPOINT = "Endpoint"
ENDPOINT_CONFIG = "EndpointConfig"
EXECUTION_ROLE = "ExecutionRole"
INVOKER_ROLE, INVOKER_POLICY = "InvokerRole", "InvokerPolicy"
SOURCE_METADATA = "inferstack:source"
"""The key of a resource's metadata; its value is ``file: path``."""
