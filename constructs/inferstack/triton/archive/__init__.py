"""Archives of model repositories (``model.tar.gz``): planned, packed, inspected, unpacked.

    Repository -> plan_archive -> Plan -> pack -> Packed           (plan.py, packing.py)
    file -> inspect_archive -> Inspection, with a Repository       (inspection.py)
    file -> unpack -> folder, as the container finds it            (reading.py)

The same repository gives the same bytes on every machine. Only the names in an archive are held in memory.
"""
