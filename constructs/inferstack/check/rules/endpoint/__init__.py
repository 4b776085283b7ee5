"""What serves requests, and how an update replaces it: variants, instances, guardrails."""

from inferstack.check.rules.endpoint import drivers, guardrails, instances, rollback_alarms, serverless
