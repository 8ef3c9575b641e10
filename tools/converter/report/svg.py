"""Create elements of SVG as text, with all texts and attributes escaped."""

from __future__ import annotations

from markupsafe import Markup, escape


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """Return <tag a="1">children</tag>; in names a trailing _ is dropped, another _ becomes -."""
    pairs = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    head = Markup("").join(Markup(' {}="{}"').format(name, _text(v)) for name, v in pairs)
    inner = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), head, inner)


def _text(value):
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value
