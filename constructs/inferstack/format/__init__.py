"""The spec format: one frozen class per block. Everything else about the format is derived from these.

To build a spec in Python, import the classes from here: ``from inferstack.format import Variant``.
"""

from inferstack.format.ai_jobs import *
from inferstack.format.ai_workload import *
from inferstack.format.alarms import *
from inferstack.format.async_inference import *
from inferstack.format.autoscaling import *
from inferstack.format.base import *
from inferstack.format.elsewhere import *
from inferstack.format.endpoint import *
from inferstack.format.inference_component import *
from inferstack.format.kinds import *
from inferstack.format.load_testing import *
from inferstack.format.model import *
from inferstack.format.objective import *
from inferstack.format.project import *
from inferstack.format.variant import *
