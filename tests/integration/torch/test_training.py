#!/usr/bin/env python3
# test_training.py: what the tests of names, categories and errors find in the same
# recordings, which are made once for all of them. Each also runs by itself.
#
# SPDX-License-Identifier: Apache-2.0
import harness
import test_categories
import test_errors
import test_names

harness.main({**vars(test_names), **vars(test_categories), **vars(test_errors)})
