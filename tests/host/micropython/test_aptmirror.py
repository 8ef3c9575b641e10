"""The system's Debian mirror is found in both of apt's formats; a third party's is ignored."""

import pytest

from tools.micropython.aptmirror import Mirror, find_mirror

DEB822 = """\
Types: deb
# A comment inside a stanza.
URIs: {security}
Suites: stable-security
Components: main

Types: deb
URIs: {main}
Suites: stable stable-updates
Components: main contrib
Signed-By: /usr/share/keyrings/some.gpg
"""

KEY_INSIDE = "Types: deb\nURIs: {main}\nSuites: stable\nComponents: main\nSigned-By:\n BEGIN\n .\n"

ONE_LINE = """\
# deb {security} commented main
deb {security} stable-security main
deb [arch=amd64 signed-by=/usr/share/keyrings/some.gpg] {main} stable main # why
"""

NAMES = {"main": "http://mirror.invalid/debian", "security": "http://other.invalid/debian"}
SIGNED = Mirror(NAMES["main"], "/usr/share/keyrings/some.gpg")


@pytest.mark.parametrize(
    ("name", "text", "mirror"),
    [
        ("sources.list.d/debian.sources", DEB822, SIGNED),
        ("sources.list.d/debian.sources", KEY_INSIDE, Mirror(NAMES["main"], "")),
        ("sources.list.d/debian.sources", "Enabled: no\n" + KEY_INSIDE, None),
        ("sources.list", ONE_LINE, SIGNED),
        ("sources.list", "deb {main} stable main", Mirror(NAMES["main"], "")),
        ("sources.list", "deb {main} stable contrib", None),
        ("sources.list.d/third-party.list", ONE_LINE, None),
        ("sources.list.d/third-party.sources", DEB822, None),
    ],
)
def test_mirrors_are_found_in_both_formats(tmp_path, name, text, mirror):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.format(**NAMES))
    assert find_mirror(tmp_path) == mirror


def test_a_system_without_apt_has_no_mirror(tmp_path):
    assert find_mirror(tmp_path / "nothing") is None
