"""What a deployment would do to the existing stack, judging by the previous template.

    previous template + spec -> what CloudFormation does with each resource -> what that means for SageMaker

Everything is decided from the two templates alone; AWS is not asked.
"""
