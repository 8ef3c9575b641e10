"""Elements of SVG as text; every text and attribute is escaped."""

from __future__ import annotations

from markupsafe import Markup, escape


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """<tag a="1">children</tag>; class_ is class, and _ in other names is -."""
    pairs = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    head = Markup("").join(Markup(' {}="{}"').format(name, _text(v)) for name, v in pairs)
    inner = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), head, inner)


def _text(value):
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value
