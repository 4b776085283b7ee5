"""What needs an AWS account: at present, uploading archives.

    connection.py  the account that the credentials are of, and AWS's refusals in words
    bucket.py      where archives go, and how S3 encrypts them
    keys.py        whether the endpoint's role may use the key that encrypts them
    upload.py      puts an archive in its place

boto3 comes with the extra ``aws``, and is only imported when an account is really asked for something.
"""
