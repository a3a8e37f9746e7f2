"""A gate's decisions as JUnit XML: a case per condition and one per sample.

It has failures only where the gate does not pass: a sample that misses a level is one if its condition is not met, and
otherwise a passed case that says so.
"""

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as Xml

from onprompt.errors import UserError
from onprompt.gate.gate import Outcome
from onprompt.gate.results import Result
from onprompt.gate.rules import Decision
from onprompt.wording.terminal import printable

FORBIDDEN = re.compile("[\ufffe\uffff]")  # in XML, beside what `printable` spells out


def write(outcome: Outcome, path: Path) -> None:
    """Write the file that CI servers read."""
    root = Xml.Element("testsuites", name="onprompt")
    cases = {
        "conditions": [condition_case(decision) for decision in outcome.decisions],
        "samples": [sample_case(result, outcome) for result in outcome.run.results],
    }
    for name, elements in cases.items():
        suite = Xml.SubElement(root, "testsuite", {"name": f"onprompt {name}"} | counts(elements))
        suite.extend(elements)
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, 0)) for suite in root)))
    try:
        Xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror or error}") from error


def counts(cases: list[Xml.Element]) -> dict[str, str]:
    """The numbers that a suite states."""
    tags = Counter(child.tag for case in cases for child in case)
    names = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": str(len(cases))} | {name: str(tags[tag]) for name, tag in names.items()}


def condition_case(decision: Decision) -> Xml.Element:
    """A condition, which failed if it is not met."""
    case = Xml.Element("testcase", classname="onprompt.conditions", name=clean(decision.name))
    line = f"asked for {decision.asked}; measured {decision.measured}"
    if decision.met:
        Xml.SubElement(case, "system-out").text = clean(line)
    else:
        Xml.SubElement(case, "failure", message=clean(line)).text = clean(line)
    return case


def sample_case(result: Result, outcome: Outcome) -> Xml.Element:
    """A sample: failed if a condition failed because of it, skipped if there is nothing to say."""
    case = Xml.Element("testcase", classname="onprompt.samples", name=clean(result.id))
    broken = outcome.broken_by(result)
    text = clean("\n".join(filter(None, (f"prompt: {result.prompt}", result.scores, result.summary, result.error))))
    message = clean("; ".join(decision.asked for decision in broken))
    if broken:
        tag = "error" if result.error else "failure"
        Xml.SubElement(case, tag, message=f"{clean(result.error)} ({message})" if result.error else message).text = text
    elif not result.counts:
        Xml.SubElement(case, "skipped", message=clean(result.error or "nothing in the prompt could be checked"))
    else:
        Xml.SubElement(case, "system-out").text = text
    return case


def clean(text: str) -> str:
    """A text that XML can hold."""
    return FORBIDDEN.sub("?", printable(text))
