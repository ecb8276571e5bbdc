"""The Python code that PyTorch's compiler generates: which statement allocates which buffer, and
what the buffer is for.

Such code is a plain list of statements. A buffer is allocated, passed to kernels, given another
name, deleted or returned:

    buf0 = empty_strided_cpu((256, 128), (128, 1), torch.float32)
    # Topologically Sorted Source Nodes: [input_1], Original ATen: [aten.addmm]
    extern_kernels.addmm(primals_2, primals_3, ..., out=buf0)
    buf1 = buf0; del buf0  # reuse
    cpp_fused_relu_0(buf1)
    return (buf1, )

Knows nothing of torch: the nodes of the graph are names here.

SPDX-License-Identifier: Apache-2.0
"""
import ast
import re

ENTER = "_memledger_enter_layer"  # the function that the instrumented code calls

_SOURCE_NODES = re.compile(r"#.*Source Nodes: \[(.*?)\]")
_ALLOCATES = re.compile(r"empty_strided|^empty")
_ALIASES = ("reinterpret_tensor", "alloc_from_pool", "as_strided")
# Operators, which may allocate for themselves.
_OUTSIDE = ("extern_kernels.", "torch.ops.", "aten.")


class Kernel:
    """A call that computes: of an operator, or of a kernel made of several."""

    def __init__(self, name, nodes, written, read):
        self.name = name
        self.nodes = nodes      # of the graph, as the comment above says
        self.written = written  # buffers
        self.read = read        # buffers and inputs

    @property
    def is_operator(self):
        return self.name.startswith(_OUTSIDE)


class Place:
    """A statement that may allocate: for a buffer, or inside an operator."""

    def __init__(self, buffer, kernel):
        self.buffer = buffer
        self.kernel = kernel


class GeneratedCode:
    """Precondition: the source is what inductor made; a SyntaxError otherwise."""

    def __init__(self, source):
        self.lines = source.splitlines()
        self.tree = ast.parse(source)
        self.places = []
        self.kernels = []
        self.results = []     # buffers that `call` returns, in order; None: something else
        self._storage = {}    # buffer -> the buffer that it is another name of
        self._constant = {}   # kernel -> which of its arguments it only reads
        self._functions = []
        self._read()

    def storage(self, buffer):
        while buffer in self._storage:
            buffer = self._storage[buffer]
        return buffer

    def instrumented(self, filename):
        """The code of each function with places, by name and first line, which calls ENTER with
        the number of a place before each. To be called once: the tree is gone then."""
        for number, (body, statement) in enumerate(self._functions):
            body.insert(body.index(statement), _call_of_enter(number, statement))
        whole = compile(ast.fix_missing_locations(self.tree), filename, "exec")
        del self.tree, self.lines, self._functions
        return {(code.co_name, code.co_firstlineno): code for code in _inner_codes(whole)
                if ENTER in code.co_names}

    # ---- Reading ---------------------------------------------------------------

    def _read(self):
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                self._read_kernel_types(node)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef) and _takes_inputs(node):
                self._comment, self._last_line = [], node.lineno
                self._read_body(node.body, node.name)

    def _read_kernel_types(self, node):
        """cpp_fused_relu_0 = async_compile.cpp_pybinding(['float*', 'const float*'], ...)"""
        types = node.value.args[0] if node.value.args else None
        if _dotted(node.value.func).endswith(".cpp_pybinding") and isinstance(types, ast.List):
            self._constant[_dotted(node.targets[0])] = [
                getattr(item, "value", "").startswith("const ") for item in types.elts]

    def _read_body(self, body, function):
        for statement in list(body):
            inner = getattr(statement, "body", None)
            if isinstance(inner, list):
                self._read_body(inner, function)
                continue
            self._read_comment(statement)
            if isinstance(statement, ast.Assign):
                self._read_assignment(statement, body)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self._read_call(statement, body)
            elif isinstance(statement, ast.Return) and function == "call":
                self._read_return(statement)

    def _read_comment(self, statement):
        """The comment stays until a kernel takes it."""
        for line in self.lines[self._last_line:statement.lineno - 1]:
            found = _SOURCE_NODES.search(line)
            if found:
                self._comment = [name.strip() for name in found[1].split(",") if name.strip()]
        self._last_line = statement.end_lineno

    def _read_assignment(self, statement, body):
        target, value = statement.targets[0], statement.value
        if not isinstance(target, ast.Name):
            return
        other = _aliased(value)
        if other:
            self._storage[target.id] = other
        elif isinstance(value, ast.Call) and _is_buffer(target.id):
            name = _dotted(value.func)
            kernel = None if _ALLOCATES.search(name) else self._add_kernel(value, [target.id])
            self._add_place(Place(target.id, kernel), body, statement)

    def _read_call(self, statement, body):
        call = statement.value
        if not any(_is_buffer(name) for name in _names(call)):
            return
        kernel = self._add_kernel(call, [])
        if kernel.is_operator:
            self._add_place(Place(None, kernel), body, statement)

    def _add_kernel(self, call, written):
        name = _dotted(call.func)
        names = [list(_names(argument)) for argument in call.args]
        constant = self._constant.get(name) or [False] * len(names)
        out = [name for word in call.keywords for name in _names(word.value) if word.arg == "out"]
        if not out and not written:
            written = [name for i, group in enumerate(names) for name in group
                       if not (i < len(constant) and constant[i])]
        kernel = Kernel(name, self._comment, [self.storage(name) for name in written + out],
                        [name for group in names for name in group])
        self._comment = []
        self.kernels.append(kernel)
        return kernel

    def _add_place(self, place, body, statement):
        self.places.append(place)
        self._functions.append((body, statement))

    def _read_return(self, statement):
        value = statement.value
        items = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        self.results = [item.id if isinstance(item, ast.Name) else _aliased(item) for item in items]


def _takes_inputs(function):
    """call(args), call(self, args), partition_0(args)"""
    return [each.arg for each in function.args.args][-1:] == ["args"]


def _is_buffer(name):
    return name.startswith(("buf", "pool", "workspace"))


def _aliased(value):
    """The buffer of which the value is another name, or a part."""
    if isinstance(value, ast.Name):
        return value.id
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
        return value.value.id
    if isinstance(value, ast.Call) and value.args and _dotted(value.func).endswith(_ALIASES):
        return _aliased(value.args[0])
    return None


def _dotted(node):
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return getattr(node, "id", "")


def _names(node):
    return (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _call_of_enter(number, statement):
    call = ast.Expr(ast.Call(ast.Name(ENTER, ast.Load()), [ast.Constant(number)], []))
    return ast.copy_location(call, statement)


def _inner_codes(code):
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            yield constant
            yield from _inner_codes(constant)
