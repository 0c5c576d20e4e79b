"""The type stub says what the module has: names, parameters, defaults, and a type for each of them."""

import ast
import inspect
import pathlib
import sys

import pytest

from pypaimon_rust import datafusion as module

STUB = pathlib.Path(module.__file__).with_suffix(".pyi")
TREE = ast.parse(STUB.read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
FUNCTIONS = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}
# What Python gives each class, or what two implementations of a protocol may say differently.
INHERITED = {name for name in dir(object)} | {"__module__", "__doc__", "__hash__", "__eq__", "__slots__", "__weakref__"}
COMPARISONS = {"__lt__", "__le__", "__gt__", "__ge__", "__ne__"}


def is_error(item):
    return isinstance(item, type) and issubclass(item, BaseException)


def members(item):
    """The members of a class that a user may name."""
    return {name for name in vars(item) if name not in INHERITED | COMPARISONS}


def methods(node):
    return {child.name: child for child in node.body if isinstance(child, ast.FunctionDef)}


def is_property(node):
    return any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)


def parameters(node):
    """Name, kind and whether there is a default, without self."""
    args = node.args
    plain = args.posonlyargs + args.args
    defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    found = [(a.arg, "plain", d) for a, d in zip(plain, defaults) if a.arg != "self"]
    if args.vararg:
        found.append((args.vararg.arg, "many", None))
    return found + [(a.arg, "keyword", d) for a, d in zip(args.kwonlyargs, args.kw_defaults)]


def real_parameters(signature):
    kinds = {
        inspect.Parameter.POSITIONAL_ONLY: "plain",
        inspect.Parameter.POSITIONAL_OR_KEYWORD: "plain",
        inspect.Parameter.VAR_POSITIONAL: "many",
        inspect.Parameter.KEYWORD_ONLY: "keyword",
    }
    return [(p.name, kinds[p.kind], p.default) for p in signature.parameters.values() if p.name not in ("self", "slf")]


def check_parameters(where, node, real):
    stub = parameters(node)
    real = real_parameters(inspect.signature(real))
    assert [p[:2] for p in stub] == [p[:2] for p in real], where
    for (name, _, default), (_, _, value) in zip(stub, real):
        if value is inspect.Parameter.empty:
            assert default is None, f"{where}: {name} has no default"
        elif value is not ...:
            assert default is not None, f"{where}: {name} has a default"
            assert isinstance(default, ast.Constant) and default.value == value, f"{where}: default of {name}"


def check_types(where, node):
    args = node.args
    all_args = [a for a in args.posonlyargs + args.args + args.kwonlyargs if a.arg != "self"]
    for arg in all_args + [a for a in (args.vararg, args.kwarg) if a]:
        assert arg.annotation is not None, f"{where}: {arg.arg} has no type"
    assert node.returns is not None, f"{where} has no result type"
    assert not (isinstance(node.returns, ast.Name) and node.returns.id == "Any"), f"{where} gives Any"


def test_py_006_every_public_name_is_in_the_stub_and_nothing_else():
    public = set(module.__all__)
    errors = {name for name in public if is_error(getattr(module, name))}
    imported = {alias.asname for node in TREE.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert errors <= imported
    assert set(CLASSES) | set(FUNCTIONS) == public - errors


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_py_006_classes_are_described(name):
    item, node = getattr(module, name), CLASSES[name]
    stubbed = methods(node)
    special = {n for n in stubbed if n.startswith("__") and n != "__init__"}
    assert {n for n in members(item) if not n.startswith("__")} == {n for n in stubbed if not n.startswith("__")}
    for method in special:
        assert hasattr(item, method), f"{name}.{method}"
    for method in members(item):
        if method.startswith("__arrow") or method.startswith("__datafusion"):
            assert method in stubbed, f"{name}.{method}"
    for method, child in stubbed.items():
        where = f"{name}.{method}"
        check_types(where, child)
        if method == "__init__":
            check_parameters(where, child, item)
        elif is_property(child):
            assert not callable(vars(item)[method]), where
        elif not method.startswith("__"):
            check_parameters(where, child, getattr(item, method))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_py_006_functions_are_described(name):
    check_types(name, FUNCTIONS[name])
    check_parameters(name, FUNCTIONS[name], getattr(module, name))


def test_py_006_everything_has_a_text():
    assert ast.get_docstring(TREE)
    for name in module.__all__:
        assert inspect.getdoc(getattr(module, name)), name
    for name, node in CLASSES.items():
        assert ast.get_docstring(node), name
        for method, child in methods(node).items():
            if not method.startswith("__"):
                assert ast.get_docstring(child), f"{name}.{method}"


def test_py_006_classes_and_functions_have_an_example():
    for name, node in {**CLASSES, **FUNCTIONS}.items():
        assert ">>> " in ast.get_docstring(node), name


def test_py_006_what_raises_always_says_so():
    refused = [f"{name}.{m}" for name, node in CLASSES.items() for m, c in methods(node).items()
               if isinstance(c.returns, ast.Name) and c.returns.id == "NoReturn"]
    assert refused == ["ReadBuilder.with_row_ranges", "Table.new_stream_write_builder"]


def test_py_006_the_package_is_typed():
    assert STUB.with_name("py.typed").exists()
    package = ast.parse(STUB.with_name("__init__.pyi").read_text(encoding="utf-8"))
    [listed] = [ast.literal_eval(n.value) for n in package.body if isinstance(n, ast.Assign)]
    assert listed == sys.modules["pypaimon_rust"].__all__


def test_py_006_the_stub_passes_mypy(tmp_path):
    api = pytest.importorskip("mypy.api")
    user = tmp_path / "user.py"
    user.write_text(
        "from pypaimon_rust.datafusion import PaimonCatalog, SQLContext\n"
        "ctx = SQLContext(memory_pool_bytes=1 << 20)\n"
        "rows: int = sum(b.num_rows for b in ctx.sql('SELECT 1'))\n"
        "import pypaimon_rust\n"
        "version: str = pypaimon_rust.__version__\n"
        "name: str = PaimonCatalog({'warehouse': '/x'}).get_table('d.t').schema().fields()[0].field_type()\n"
        "builder = PaimonCatalog({'warehouse': '/x'}).get_table('d.t').new_read_builder()\n"
        "builder.with_filter({'method': 'equal', 'field': 'id', 'literals': [1]})\n"
        "builder.with_filter({'method': 'and', 'children': [{'method': 'isNull', 'field': 'id'}]})\n"
    )
    out, err, code = api.run(["--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "c"), str(STUB), str(user)])
    assert code == 0, out + err
