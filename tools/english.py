"""Counts the word `what` in comments, docstrings and documents: python tools/english.py.

A headless `what` leaves out the noun that the reader needs: in `what waits is woken` the reader has to guess whether
threads, streams or commands wait; "the commands that wait are woken" says it. Good prose about software hardly needs
the word, so its rate shows whether the nouns are there. The script counts it

- in comments of C++ (src, cuda_kernels, tests/cpp),
- in comments and docstrings of Python (python, tests, tools, benchmarks), and in the text of the notebooks, which is
  comments in their sources (notebooks/sources),
- in the prose of the documents (docs, README.md and the other Markdown files beside it).

Code does not count: neither code blocks nor words in backticks. The script prints a table with a row for each folder.
It ends with 1 if a folder has 2 or more `what` in 1000 words, or a folder of documents 3 or more, and then names the
files that have most of them.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORD = re.compile(r"[A-Za-z][A-Za-z']*")
# Raw strings, strings and characters come first, so that a "//" in one of them does not begin a comment.
CPP = re.compile(
    r"""R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)",
    re.DOTALL,
)
CODE_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?<=\n\n)(?:    [^\n]*\n+)+")
INLINE_CODE = re.compile(r"(`+).*?\1", re.DOTALL)


def comments_of_cpp(text: str) -> str:
    return "\n".join(found["comment"] for found in CPP.finditer(text) if found["comment"])


def comments_of_python(text: str) -> str:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    parts = [token.string for token in tokens if token.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            parts.append(ast.get_docstring(node) or "")
    return "\n".join(parts)


def prose_of_markdown(text: str) -> str:
    return INDENTED.sub("\n", CODE_BLOCK.sub("", text))


# A folder, the endings of its files, the reader of such a file, and the rate at which the folder fails.
Row = tuple[str, tuple[str, ...], Callable[[str], str], float]
CPP_FILES = (".cpp", ".hpp", ".h", ".cu", ".cuh", ".inc")
ROWS: tuple[Row, ...] = (
    ("src", CPP_FILES, comments_of_cpp, 2),
    ("cuda_kernels", CPP_FILES, comments_of_cpp, 2),
    ("tests/cpp", CPP_FILES, comments_of_cpp, 2),
    ("python", (".py",), comments_of_python, 2),
    ("tests", (".py",), comments_of_python, 2),
    ("tools", (".py",), comments_of_python, 2),
    ("benchmarks", (".py",), comments_of_python, 2),
    ("notebooks/sources", (".py",), comments_of_python, 3),
    ("docs", (".md",), prose_of_markdown, 3),
    (".", (".md",), prose_of_markdown, 3),
)
GENERATED = ("docs/gpu-report.md",)
WORST = 10  # files that are named for a folder that fails


def count(text: str) -> tuple[int, int]:
    """The number of words, and how many of them are `what`."""
    words = [word.lower() for word in WORD.findall(INLINE_CODE.sub(" ", text))]
    return len(words), words.count("what")


def files(folder: str, endings: tuple[str, ...]) -> list[str]:
    """The tracked files of the folder and its subfolders; of the top folder only its own files."""
    listed = subprocess.check_output(["git", "ls-files", "--", folder], cwd=ROOT, text=True).splitlines()
    here = [name for name in listed if name.endswith(endings) and name not in GENERATED]
    return [name for name in here if "/" not in name] if folder == "." else here


def main() -> int:
    """Prints the table. The answer is the exit status."""
    failed = []
    print(f"{'folder':<14} {'words':>7} {'what':>5} {'per 1000':>9} {'limit':>6}")
    for folder, endings, read, limit in ROWS:
        counts = {name: count(read((ROOT / name).read_text())) for name in files(folder, endings)}
        words, whats = (sum(pair[i] for pair in counts.values()) for i in (0, 1))
        rate = 1000 * whats / max(words, 1)
        print(f"{folder:<14} {words:>7} {whats:>5} {rate:>9.1f} {limit:>6}")
        # One `what` in a few sentences is no habit: a folder of few words may have one.
        if rate >= limit and whats > 1:
            failed.append((folder, sorted(counts, key=lambda name: -counts[name][1])[:WORST], counts))
    for folder, worst, counts in failed:
        print(f'\n{folder}: too many "what". Name the thing: "the commands that wait", not "what waits".')
        for name in worst:
            if counts[name][1]:
                print(f"  {counts[name][1]:>4}  {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
