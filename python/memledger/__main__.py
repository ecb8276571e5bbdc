"""python -m memledger: the command.

SPDX-License-Identifier: Apache-2.0
"""
from memledger._command import main

main()
