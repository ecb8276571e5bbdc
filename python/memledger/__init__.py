"""memledger: where every byte of GPU and host memory went.

SPDX-License-Identifier: Apache-2.0
"""
