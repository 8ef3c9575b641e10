"""Measurements of `make bench` beyond `mpconnxr bench`, and the pages and figures made of them.

`c` compiles models to C; `page` writes docs/benchmarks.md, `every_model` docs/collection.md,
`steps` the costs of steps in tools/converter/report/costs.json, `cycles` those in boards/*.toml.
Only a clone has this package: of the tools, only tools.bench imports it, and only on demand.
"""
