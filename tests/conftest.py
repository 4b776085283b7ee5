"""What all tests share: CDK on the right Node, without its slow validation and the caller's environment."""

import os

from inferstack.node_runtime import select_node

# CDK reads this when an app is made; the tests that are about the validation switch it on again.
os.environ["CDK_VALIDATION"] = "false"
for name in ("CDK_OUTDIR", "CDK_CONTEXT_JSON", "CDK_DEFAULT_ACCOUNT", "CDK_DEFAULT_REGION"):
    os.environ.pop(name, None)

# Before any test module imports aws_cdk, which starts Node at once.
select_node()
