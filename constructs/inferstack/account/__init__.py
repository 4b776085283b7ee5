"""What needs an AWS account: uploading archives, and asking the model registry.

    connection.py  the account of the credentials, and explanations of AWS's refusals
    bucket.py      where archives go, and how S3 encrypts them
    keys.py        whether the endpoint's role may use the key that encrypts them
    checksums.py   whether S3 has the bytes of an archive
    upload.py      puts an archive in its place
    recommender.py jobs that measure models
    registry.py    the versions of model packages, and whether they are approved

boto3 comes with the extra ``aws``, and is only imported when AWS is really called.
"""
