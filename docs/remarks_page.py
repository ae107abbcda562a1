"""Write `reference/remarks.md`, the table of all remarks, from the codes of `iparam.remarks`.

python docs/remarks_page.py
"""

from __future__ import annotations

import string
from pathlib import Path

from iparam.remarks import CODES

PAGE = Path(__file__).parent / "reference" / "remarks.md"

HEAD = """# Remarks

What iparam has to say about data, a plan or a result is a remark: a value with a code, a severity, a message and the
numbers in it. Recordings and results list them as `remarks`, in Python and in JSON. Match the code and the values, not
the message.

| severity | meaning |
|---|---|
| info | Good to know. The numbers are sound. |
| corrected | Something was wrong and was put right, or the standard deviations count it. |
| doubt | The numbers may be wrong: the verdict is at most "usable", and no controller is told the load. |
| refuted | The data contradict what was stated, so the numbers are wrong. |

The severity of one occurrence may differ from the usual one below; it counts. Words in *italics* are the names of
`values`. A remark that can be corrected has a `fix`, the argument to set and its value.
`python docs/remarks_page.py` writes this page.

| code | severity | message |
|---|---|---|
"""


def page() -> str:
    """The page as it has to be."""
    rows = (f"| `{code}` | {kind.severity} | {_shown(kind.template)} |" for code, kind in sorted(CODES.items()))
    return HEAD + "\n".join(rows) + "\n"


def _shown(template: str) -> str:
    parts = string.Formatter().parse(template)
    shown = "".join(_escaped(text) + (f"*{_escaped(name)}*" if name else "") for text, name, _, _ in parts)
    return shown.replace("**", "* *")  # two names side by side


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "|*_<[]$`" else sign for sign in text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
