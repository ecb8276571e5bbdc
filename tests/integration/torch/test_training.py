#!/usr/bin/env python3
# test_training.py: the tests of names, categories, errors and long runs, which share
# recordings that are made once. Each file also runs by itself.
#
# SPDX-License-Identifier: Apache-2.0
import harness
import test_categories
import test_errors
import test_long
import test_names

harness.main({**vars(test_names), **vars(test_categories), **vars(test_errors), **vars(test_long)})
