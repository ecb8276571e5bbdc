#!/usr/bin/python3
layer_kw_dict = \
    {
        """ Example:
        "RNN" : ["rnn"],
        """
    }
data_struct_kw_dict = \
    {
        "Parameters": ["in_arg", "arg_grad"], # weights
        "Workspace" : ["workspace"]
    }
memory_profile_path = ""
expected_sum = None
