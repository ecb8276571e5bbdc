# jax_process.py NUMBER COUNT: a process of JAX that gets its number as an argument. JAX is a stand-in with the names
# that memledger looks for; PyTorch is not imported.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys
import tempfile

DISTRIBUTED = """
class State:
    process_id, num_processes = 0, 1
    def initialize(self, coordinator_address=None, num_processes=None, process_id=None):
        self.process_id, self.num_processes = process_id, num_processes
global_state = State()
"""

with tempfile.TemporaryDirectory() as folder:
    os.makedirs(os.path.join(folder, "jax", "_src"))
    with open(os.path.join(folder, "jax", "_src", "distributed.py"), "w", encoding="utf-8") as f:
        f.write(DISTRIBUTED)
    sys.path.insert(0, folder)
    from jax._src import distributed
distributed.global_state.initialize("127.0.0.1:1234", num_processes=int(sys.argv[2]), process_id=int(sys.argv[1]))
