"""Files and functions stay small enough to read at once."""

import ast
import statistics
from pathlib import Path

import onprompt

FILES = list(Path(onprompt.__file__).parent.rglob("*.py"))


def test_no_file_is_longer_than_600_lines() -> None:
    assert not [path for path in FILES if len(path.read_text().splitlines()) > 600]


def test_functions_have_at_most_40_lines_and_half_of_them_seven() -> None:
    functions = [
        (node.name, path.name, (node.end_lineno or 0) - node.lineno + 1)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert not [function for function in functions if function[2] > 40]
    assert statistics.median(lines for *_, lines in functions) <= 7
