"""The command line and the Python that give the same verdict, safe to copy whatever a prompt holds."""

from collections.abc import Mapping, Sequence

from onprompt.types import NAMES, Rubric
from onprompt.wording.terminal import shell_word


def command_line(
    rubric: Rubric, item: Mapping[str, object], judge: str, models: Sequence[str], options: Sequence[str] = ()
) -> str:
    """The command that gives the same verdict; `item` has names of files in place of images."""
    words = ["onprompt", rubric.name, *options]
    words += ["--judge", judge] if judge else []
    words += [word for model in models for word in ("--model", model)]
    positional = []
    for given in rubric.inputs:
        value = item.get(given.name)
        if value in (None, "", [], 0) and not given.required:
            continue
        if given.required:
            positional.append(str(value))
        else:
            each = value if given.kind == NAMES and isinstance(value, list | tuple) else [value]
            words += [word for entry in each for word in (f"--{given.name}", str(entry))]
    end = ["--"] if any(word.startswith("-") for word in positional) else []  # not to be taken for an option
    return " ".join(map(shell_word, [*words, *end, *positional]))


def python_code(
    rubric: Rubric, item: Mapping[str, object], judge: str, models: Sequence[str], public: Sequence[str]
) -> str:
    """The Python that gives the same verdict; `public` are the functions of the package."""
    values = {given.name: item.get(given.name) for given in rubric.inputs}
    needed = {given.name for given in rubric.inputs if given.required}
    values = {name: value for name, value in values.items() if name in needed or value not in (None, "", [], 0)}
    chosen: dict[str, object] = {"judge": judge} if judge else {}
    chosen |= {"models": list(models)} if len(models) > 1 else {"model": models[0]} if models else {}
    more = "".join(f", {name}={value!r}" for name, value in chosen.items())
    if rubric.name in public:
        first = ", ".join(f"{name}={value!r}" for name, value in values.items())
        call = f"onprompt.{rubric.name}({first}{more})"
    else:
        call = f"next(onprompt.judge_many({rubric.name!r}, [{values!r}]{more}))"
    return f"import onprompt\n\nverdict = {call}\nprint(verdict.summary)"
