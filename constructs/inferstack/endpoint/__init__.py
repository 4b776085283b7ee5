"""The picture of an endpoint: what runs, on what, as few and as many as scaling allows, watched and protected
how.

One record for each question, filled by thin readers; each question has one arithmetic, which rules on specs,
updates, reviews, sizing and lists all ask.
"""
