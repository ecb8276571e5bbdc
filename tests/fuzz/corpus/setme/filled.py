import os; path = f"{os.sep}\x41" + rb'\''
layer_kw_dict = {'a': ["b" 'c', u'\n\t\\\'"'], "a": (r'\d\'', '''x
y'''), "e\
f": []}
if path: print({1: layer_kw_dict})
expected_sum = 4.25
