"""Translate loops in viper to C, so that a compiler keeps their words in registers.

Loops use little of Python: words of 32 bits, pointers, `while` and `if`. Anything else raises
AsmError. Words wrap around, `>>` keeps the sign, `//` and `%` round down.
"""

from __future__ import annotations

import ast

from .errors import AsmError

TYPES = {"int": "int", "ptr8": "unsigned char *", "ptr16": "unsigned short *", "ptr32": "int *"}
_INDENT = "    "
_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|"}
_BINARY |= {ast.BitXor: "^", ast.RShift: ">>"}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_JOIN = {ast.And: " && ", ast.Or: " || "}
_DIVISION = {ast.FloorDiv: "floor_divide", ast.Mod: "floor_modulo"}
# Cores without a division instruction compute one bit of the quotient at a time.
_DIVIDE = """\
#if DIVIDES == 1
#define quotient(a, b) ((a) / (b))
#elif DIVIDES == 2
static inline unsigned quotient(unsigned a, unsigned b)
{
    unsigned q;
    __asm__("quou %0, %1, %2" : "=r"(q) : "r"(a), "r"(b));
    return q;
}
#else
static __attribute__((noinline)) unsigned quotient(unsigned a, unsigned b)
{
    unsigned q = 0, bit = 1;
    if (!b)
        return -1;
    for (; b <= a >> 8; bit <<= 8)
        b <<= 8;
    for (; b <= a >> 1; bit <<= 1)
        b <<= 1;
    for (; bit; bit >>= 1) {
        if (a >= b) {
            a -= b;
            q |= bit;
        }
        b >>= 1;
    }
    return q;
}
#endif

static __attribute__((noinline)) int floor_divide(int a, int b)
{
    unsigned sign = (a ^ b) >> 31;
    unsigned n = a < 0 ? -(unsigned)a : a, d = b < 0 ? -(unsigned)b : b;
    unsigned q = quotient(sign ? n + d - 1 : n, d);
    return sign ? -q : q;
}
"""
_MODULO = """
static int floor_modulo(int a, int b)
{
    return a - floor_divide(a, b) * b;
}
"""


def is_loop(function: ast.FunctionDef) -> bool:
    """Return True if a function of viper has only words and pointers, and calls nothing."""
    args = function.args.args
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    is_viper = any(ast.unparse(d).endswith(".viper") for d in function.decorator_list)
    is_typed = all(a.annotation and ast.unparse(a.annotation) in TYPES for a in args)
    is_leaf = all(isinstance(f, ast.Name) and f.id in TYPES for f in calls)
    return is_viper and is_typed and is_leaf and len(args) <= 4


def to_c(function: ast.FunctionDef) -> str:
    """Return a C function of the same name. It returns 0 if the original returns nothing.

    Otherwise the register of the result might hold a number too large for a small integer, for
    which MicroPython would allocate memory. Raises AsmError.
    """
    return _Translator(function).text()


class _Translator:
    def __init__(self, function: ast.FunctionDef):
        self._function = function
        self._types = {a.arg: ast.unparse(a.annotation) for a in function.args.args}
        self._used: set[str] = set()

    def text(self) -> str:
        parameters = [f"{TYPES[kind]} v_{name}" for name, kind in self._types.items()]
        body = self._block(self._function.body, 1)
        locals_ = [name for name in self._types if name not in self._arguments()]
        lines = [f"{_INDENT}{TYPES[self._types[n]]} v_{n} = 0;" for n in locals_]
        head = f"int {self._function.name}({', '.join(parameters)})"
        body += [] if self._function.returns else [f"{_INDENT}return 0;"]
        helpers = [_DIVIDE] if self._used else []
        helpers += [_MODULO] if "floor_modulo" in self._used else []
        return "\n".join([*helpers, head, "{", *lines, *body, "}"]) + "\n"

    def _arguments(self) -> set[str]:
        return {a.arg for a in self._function.args.args}

    def _block(self, statements: list[ast.stmt], depth: int) -> list[str]:
        return [line for s in statements for line in self._statement(s, depth)]

    def _statement(self, s: ast.stmt, depth: int) -> list[str]:
        at = _INDENT * depth
        match s:
            case ast.Expr(value=ast.Constant(value=str())):
                return []
            case ast.Assign(targets=[target], value=value):
                return [f"{at}{self._target(target, value)} = {self._value(value)};"]
            case ast.AugAssign(target=target, op=op, value=value):
                result = ast.BinOp(_loaded(target), op, value)
                return [f"{at}{self._target(target, result)} = {self._value(result)};"]
            case ast.While(test=test, body=body, orelse=[]):
                inner = self._block(body, depth + 1)
                return [f"{at}while ({self._condition(test)}) {{", *inner, f"{at}}}"]
            case ast.If(test=test, body=body, orelse=orelse):
                lines = [f"{at}if ({self._condition(test)}) {{", *self._block(body, depth + 1)]
                if orelse:
                    lines += [f"{at}}} else {{", *self._block(orelse, depth + 1)]
                return [*lines, f"{at}}}"]
            case ast.Break():
                return [f"{at}break;"]
            case ast.Continue():
                return [f"{at}continue;"]
            case ast.Return(value=value):
                return [f"{at}return {self._value(value) if value else '0'};"]
            case ast.Pass():
                return []
        raise self._cannot(s)

    def _target(self, target: ast.expr, value: ast.expr) -> str:
        if isinstance(target, ast.Name):
            kind = self._kind(value)
            if self._types.setdefault(target.id, kind) != kind:
                raise self._cannot(target)
            return f"v_{target.id}"
        if isinstance(target, ast.Subscript):
            return self._element(target)
        raise self._cannot(target)

    def _kind(self, value: ast.expr) -> str:
        if isinstance(value, ast.Call):
            return ast.unparse(value.func)
        if isinstance(value, ast.Name):
            return self._types.get(value.id, "int")
        return "int"

    def _element(self, node: ast.Subscript) -> str:
        if self._kind(node.value) == "int":
            raise self._cannot(node)
        return f"{self._value(node.value)}[{self._value(node.slice)}]"

    def _condition(self, node: ast.expr) -> str:
        match node:
            case ast.BoolOp(op=op, values=values):
                return _JOIN[type(op)].join(f"({self._condition(v)})" for v in values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"!({self._condition(operand)})"
        return self._value(node)

    def _value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=bool() | int() as number):
                return f"{int(number)}u" if number > 0x7FFFFFFF else f"{int(number)}"
            case ast.Name(id=name) if name in self._types:
                return f"v_{name}"
            case ast.Subscript():
                return self._element(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(self._value(left), op, self._value(right), node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"(-{self._value(operand)})"
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return f"(~{self._value(operand)})"
            case ast.UnaryOp(op=ast.Not()):
                return f"({self._condition(node)})"
            case ast.BoolOp(values=values) if all(isinstance(v, ast.Compare) for v in values):
                return f"({self._condition(node)})"
            case ast.Compare(left=left, ops=ops, comparators=right):
                return self._comparison([left, *right], ops)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                both = f"{self._value(body)} : {self._value(orelse)}"
                return f"({self._condition(test)} ? {both})"
            case ast.Call(func=ast.Name(id=kind), args=[argument]):
                return f"(({TYPES[kind]})({self._value(argument)}))"
        raise self._cannot(node)

    def _binary(self, left: str, op: ast.operator, right: str, node: ast.expr) -> str:
        if type(op) in _DIVISION:
            self._used.add(_DIVISION[type(op)])
            return f"{_DIVISION[type(op)]}({left}, {right})"
        if isinstance(op, ast.LShift):
            return f"((int)((unsigned){left} << {right}))"
        if type(op) in _BINARY:
            return f"({left} {_BINARY[type(op)]} {right})"
        raise self._cannot(node)

    def _comparison(self, values: list[ast.expr], ops: list[ast.cmpop]) -> str:
        pairs = zip(values, ops, values[1:], strict=False)
        texts = [f"{self._value(a)} {_COMPARE[type(op)]} {self._value(b)}" for a, op, b in pairs]
        return f"({' && '.join(texts)})"

    def _cannot(self, node: ast.AST) -> AsmError:
        return AsmError(f"{self._function.name}: no C for {ast.unparse(node)}")


def _loaded(target: ast.expr) -> ast.expr:
    """Return an assignment's target as a value."""
    return ast.parse(ast.unparse(target), mode="eval").body
