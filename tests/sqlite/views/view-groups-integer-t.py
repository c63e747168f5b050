"""Groups on devices that compute REALs by integers: what view-groups-device-t.py tests, with device_arithmetic."""

import os
import runpy

os.environ["CLREDUCE_DEVICE_ARITHMETIC"] = "integer"
runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "view-groups-device-t.py"))
