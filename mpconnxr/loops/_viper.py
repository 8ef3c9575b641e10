"""Types of viper, for hand-tuned sources that are not plain Python.

The build omits this import from its modules. Where the sources themselves are imported, on CPython
or from a copy of this folder, the import fails and mpconnxr.forms takes the plain form.
"""

raise ImportError("a form in viper is what the build makes of this file")
