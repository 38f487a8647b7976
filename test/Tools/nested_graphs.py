"""Writes graphs that nest 50,000 levels deep, each in another way, and two that do not: nested_graphs.py FOLDER"""
import sys

DEEP, WITHIN = 50_000, 190


def chain(prefix, first, step):
    """An alias of an alias of an alias."""
    return f"{prefix}0 = {first}\n" + "".join(f"{prefix}{i + 1} = {step.format(f'{prefix}{i}')}\n" for i in range(DEEP))


GRAPHS = {
    "tuple": "func.func private @f() -> " + "tuple<" * DEEP + "i32" + ">" * DEEP,
    "list": "module attributes {a = " + "[" * DEEP + "]" * DEEP + "} {}",
    "regions": '"a.b"() ({' * DEEP + "})" * DEEP,
    "location": "module {} " + "loc(callsite(" * DEEP + '"a" at "b"' + "))" * DEEP,
    "sum": "module attributes {a = affine_map<(d0, d1) -> (" + "d0 + d1 mod 3 + " * DEEP + "d0)>} {}",
    "minus": "module attributes {a = affine_map<(d0) -> (" + "- " * DEEP + "d0)>} {}",
    "types": chain("!t", "i32", "tuple<{}>") + f"func.func private @f() -> !t{DEEP}",
    "attributes": chain("#a", "unit", "[{}]") + f"module attributes {{a = #a{DEEP}}} {{}}",
    "text": "// " + "[" * DEEP + '\nmodule attributes {builtin.a = "' + "[" * DEEP + '"} {}',
    "within": "module {" * (WITHIN // 2) + "func.func private @f() -> " + "tuple<" * (WITHIN // 2 - 2) + "i32" + ">" * (WITHIN // 2 - 2)
              + "}" * (WITHIN // 2),
}


def main():
    for name, text in GRAPHS.items():
        with open(f"{sys.argv[1]}/{name}.mlir", "w", encoding="utf-8") as file:
            file.write(text + "\n")


main()
