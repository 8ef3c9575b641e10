"""The types of viper, for sources that were tuned for it by hand, which are no plain Python.

The build writes their modules without this import. Where the sources themselves are imported, on
CPython or from a copy of this folder, the error makes mpconnxr.forms take the plain form.
"""

raise ImportError("a form in viper is what the build makes of this file")
