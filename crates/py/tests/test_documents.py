"""What docs/python.md and the notebooks show, run."""

import contextlib
import doctest
import html.parser
import io
import json
import os
import pathlib
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent


class Page(unittest.TestCase):
    def test_examples_print_what_is_shown(self):
        path = ROOT / "docs/python.md"
        text, inside = "", False
        for line in path.read_text().splitlines():
            if line.startswith("```"):
                inside = line == "```pycon"
                text += "\n"
            else:
                text += (line if inside else "") + "\n"
        test = doctest.DocTestParser().get_doctest(text, {}, "python.md", str(path), 0)
        self.assertGreater(len(test.examples), 10)
        out, before = io.StringIO(), os.getcwd()
        os.chdir(ROOT)
        try:
            runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
            found = runner.run(test, out=out.write)
        finally:
            os.chdir(before)
        self.assertEqual(found.failed, 0, out.getvalue())


class Notebooks(unittest.TestCase):
    def test_all_cells_run(self):
        notebooks = sorted((HERE.parent / "notebooks").glob("*.ipynb"))
        self.assertEqual(len(notebooks), 3)
        for path in notebooks:
            with self.subTest(path.name):
                try:
                    import nbclient
                    import nbformat
                except ImportError:
                    self.run_cells(path)
                else:
                    notebook = nbformat.read(path, as_version=4)
                    client = nbclient.NotebookClient(
                        notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}
                    )
                    client.execute()

    def run_cells(self, path):
        """Without Jupyter: the cells one after the other, and what a notebook would show of the last value of each."""
        notebook, names, before = json.loads(path.read_text()), {}, os.getcwd()
        os.chdir(path.parent)
        try:
            for cell in notebook["cells"]:
                if cell["cell_type"] != "code":
                    continue
                *lines, last = "".join(cell["source"]).rstrip().splitlines()
                with contextlib.redirect_stdout(io.StringIO()):
                    try:
                        shown = compile(last, path.name, "eval")
                    except SyntaxError:
                        exec("\n".join([*lines, last]), names)
                    else:
                        exec("\n".join(lines), names)
                        value = eval(shown, names)
                        if hasattr(value, "_repr_html_"):
                            html.parser.HTMLParser().feed(value._repr_html_())
        finally:
            os.chdir(before)


if __name__ == "__main__":
    unittest.main()
