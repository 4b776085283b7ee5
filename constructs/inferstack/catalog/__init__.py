"""What AWS offers, as data: CloudFormation shapes, instance types, images, metrics and regions.

Each module looks things up in files of ``data/`` that ``tools/update_catalog.py`` generates from
AWS's own models. Nothing here judges a spec, and nothing here needs AWS.
"""
