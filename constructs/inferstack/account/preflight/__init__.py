"""Whether a deployment can work in the account, asked before it starts. Nothing is changed.

    verdict.py          `ok`, `problem` or `cannot tell`, and which part of a spec it is about
    calls.py            every request that is made, with the right that it needs
    asking.py           the requests, each made once, and what counts as "not there"
    place.py            the CDK bootstrap of an account and region
    quotas.py, usage.py the quotas that all specs need together, and what other endpoints take of them
    files.py            model files, and the keys that encrypt them
    images.py           images in Amazon ECR
    keys.py, roles.py   the keys of the spec and of its files, its role and policies
    network.py          subnets, security groups, the way to S3
    names.py            stack, endpoint and components: free, or the stack's own
    running.py          the table of checks, in the order in which one failure makes the next meaningless
    policy.py           the rights that the checks need, as IAM's policy

A check never concludes from what an answer lacks: that is `cannot tell`, as is whatever AWS refuses to say.
"""
