"""How a deployment stands: what is there, whether it works, and if not, why.

    snapshot   what AWS says at one moment of a stack, its endpoint, components and alarms
    outcome    whether that works, has failed, or is still under way
    logs       what containers have logged since the deployment began
    reasons    why something does not work, from logs, reasons and events

Nothing is changed in AWS.
"""
