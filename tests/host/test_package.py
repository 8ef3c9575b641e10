"""The package that is built is the one that was committed."""

from tools import package


def test_each_module_is_what_it_was():
    made = dict(package.modules())
    kept = {p.relative_to(package.SOURCES).as_posix(): p for p in package.SOURCES.rglob("*.py")}
    assert made.keys() == kept.keys() and len(made) == 724
    for name, path in kept.items():
        assert made[name].encode() == path.read_bytes(), name
