"""A folder for sys.path, in which scripts written for tbd-tools find its module.

SPDX-License-Identifier: Apache-2.0
"""
