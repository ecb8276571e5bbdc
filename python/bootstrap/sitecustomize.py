# sitecustomize.py: found first under `memledger run`; passes on to the user's own.
#
# SPDX-License-Identifier: Apache-2.0
