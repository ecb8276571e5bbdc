"""python -m memledger.tbd_tools: prints the folder.

SPDX-License-Identifier: Apache-2.0
"""
import os

print(os.path.dirname(os.path.abspath(__file__)))
