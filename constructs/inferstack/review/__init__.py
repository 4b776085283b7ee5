"""What a deployment would do to the stack that is there, told from the previous template.

    previous template + spec -> what CloudFormation does with each resource -> what that means for SageMaker

Everything is decided from the two templates alone; AWS is not asked.
"""
