"""An endpoint read from one template, part by part, before or after a deployment.

stack.py          the template, and where each part of it comes from
endpoints.py      the whole, made of:
containers.py     images and model files
fleets.py         instances, as few and as many as scaling allows
capacity.py       copies of components, and where they fit
cost.py           what instances cost, and the names of quotas
scaling.py, alarms.py
                  what scales and what is watched, in sentences; units.py has their numbers
permissions.py, protections.py
                  what the role may do; network, encryption, access
"""
