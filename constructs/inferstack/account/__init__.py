"""What needs an AWS account: today the uploading of archives.

boto3 comes with the extra ``aws`` and is imported when something is asked of an account, never before.
"""
