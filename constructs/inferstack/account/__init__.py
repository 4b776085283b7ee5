"""What needs an AWS account: at present, uploading archives.

boto3 comes with the extra ``aws``, and is only imported when an account is really asked for something.
"""
