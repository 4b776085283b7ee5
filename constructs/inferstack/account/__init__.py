"""What needs an AWS account: uploading archives, measuring models, asking the registry, the price list,
whether a deployment can work, and whether it does.

    connection.py     the account of the credentials, how AWS's answers are read, and what its refusals mean
    bucket.py         where archives go, and how S3 encrypts them
    keys.py           whether the endpoint's role may use the key that encrypts them
    checksums.py      whether S3 has the bytes of an archive
    upload.py         puts an archive in its place
    recommender.py    jobs that measure models
    job_result.py     what such a job has found
    invoking.py       an endpoint's instances, and requests to it by many users at once
    requests.py       one request: whole, as a stream or asynchronous, as often as AWS asks for it
    invoke_rights.py  the rights that such requests need
    endpoint_load.py  runs of load on an endpoint, and what they have taken
    endpoint_metrics.py
                      what CloudWatch has recorded of an endpoint
    inventory.py      the endpoints of an account, and the specs that they belong to
    model_folder.py   the folder of a model in S3: its small files, and parts of the large ones
    registry.py       the versions of model packages, and whether they are approved
    preflight         whether a deployment can work in the account
    status            how a deployment stands, and why one does not work
    existing.py       an endpoint that exists, and its stack: all that AWS says about them
    importing.py      change sets with which a stack takes an endpoint over
    price_list.py     what instances cost, from a public file: the only one that needs no boto3

boto3 comes with the extra ``aws``, and is only imported when AWS is really called.
"""
