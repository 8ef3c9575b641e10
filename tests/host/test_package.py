"""The package that is built from what people write."""

from tools import package


def test_what_is_written_is_in_it_as_it_is():
    made = dict(package.modules())
    kept = {p.relative_to(package.SOURCES).as_posix(): p for p in package.SOURCES.rglob("*.py")}
    assert len(made) == 724 and made.keys() > kept.keys()
    for name, path in kept.items():
        assert made[name].encode() == path.read_bytes(), name
