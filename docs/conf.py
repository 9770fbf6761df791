"""How Sphinx makes the pages. It is run by scripts/docs-site.sh on a copy of this folder, into which it writes pages of its own:
one for each example of the gallery, from its script, and the reference of the Python package, from its sources."""

import ast
import re
from pathlib import Path

project = "Tilewright"
root = Path(__file__).resolve().parent.parent
version = release = re.search(r'^version = "(.*)"', (root / "Cargo.toml").read_text(), re.M)[1]
copyright = "the authors of Tilewright, MIT licence"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["requirements.txt"]
# Links to headings as GitHub names them.
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"Tilewright {version}"
html_show_sphinx = False
# The blocks are in languages that Pygments does not know.
highlight_language = "text"


def gallery_pages(folder):
    """`NAME.md` for each script: its title and its text, its picture, and the whole script."""
    for script in sorted(folder.glob("*.py")) + sorted(folder.glob("*.sh")):
        if script.name == "picture.py":
            continue
        text = script.read_text()
        if script.suffix == ".py":
            says = ast.get_docstring(ast.parse(text))
        else:
            lines = text.splitlines()[1:]
            comment = lines[: next(at for at, line in enumerate(lines) if not line.startswith("#"))]
            says = "\n".join(line[2:] for line in comment)
        title, _, prose = says.partition("\n")
        pictures = [f"../images/gallery/{script.stem}{end}" for end in (".png", ".svg")]
        shown = "".join(f"![{title}]({path})\n\n" for path in pictures if (folder / path).is_file())
        code = f"```{{literalinclude}} {script.name}\n:language: {'python' if script.suffix == '.py' else 'sh'}\n```"
        (folder / f"{script.stem}.md").write_text(f"# {title}\n\n{prose.strip()}\n\n{shown}{code}\n")
    index = folder / "README.md"
    names = "|".join(page.stem for page in folder.glob("*.md"))
    index.write_text(re.sub(rf"\]\(({names})\.(py|sh)\)", r"](\1.md)", index.read_text()))


def listed(index):
    """Appends the pages beside an index to it, as entries of the table of contents."""
    pages = "\n".join(sorted(page.stem for page in index.parent.glob("*.md") if page != index))
    index.write_text(f"{index.read_text()}\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n")


def examples_page(folder):
    """`examples.md`: the text beside the files that the manuals name."""
    (folder / "examples.md").write_text((root / "examples/README.md").read_text())
    for page in folder.glob("*.md"):
        page.write_text(page.read_text().replace("](../examples/README.md", "](examples.md"))


def package_page(folder, package):
    """`python-package.md`: signatures and texts of all that the package hands on, without importing it."""
    parts = ["# The Python package\n\nThe [manual](python.md) shows how it is used; here is all of it.\n"]
    start = ast.parse((package / "__init__.py").read_text())
    public = next(ast.literal_eval(node.value) for node in start.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    homes = {one.name: node.module for node in start.body if isinstance(node, ast.ImportFrom) for one in node.names}
    for name in public:
        if homes[name] is not None:
            parts += shown(definitions(package / f"{homes[name]}.py").get(name), name)
            continue
        # A module that is handed on whole: what is not handed on by itself is in it.
        module = package / f"{name}.py"
        parts += [f"## {name}\n\n{ast.get_docstring(ast.parse(module.read_text()))}\n"]
        for own, node in definitions(module).items():
            if not own.startswith("_") and homes.get(own) != name:
                parts += shown(node, f"{name}.{own}")
    (folder / "python-package.md").write_text("\n".join(parts))


def definitions(path):
    """The functions and classes of a module, by their names."""
    return {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def shown(node, name):
    """A function, or a class with its attributes and methods."""
    if isinstance(node, ast.FunctionDef):
        return [f"## {name}\n", described(node, signature(node, name))]
    if not isinstance(node, ast.ClassDef):
        return []
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    attributes = [f"    {ast.unparse(one)}" for one in node.body if isinstance(one, ast.AnnAssign)]
    parts = [f"## {name}\n", described(node, "\n".join([f"class {name}({bases})" if bases else f"class {name}", *attributes]))]
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") and ast.get_docstring(member):
            parts += [f"### {name}.{member.name}\n", described(member, signature(member, member.name))]
    return parts


def signature(node, name):
    """A function's name, arguments and result."""
    return f"{name}({ast.unparse(node.args)})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def described(node, code):
    """What a function or a class is, as a block of code and a text."""
    # Texts indent code by four, as Markdown does.
    return f"```python\n{code}\n```\n\n{ast.get_docstring(node) or ''}\n"


def setup(app):
    source = Path(app.srcdir)
    if source.parent != root or (root / ".git").exists():
        raise SystemExit("run scripts/docs-site.sh: pages are made on a copy of docs/")
    gallery_pages(source / "gallery")
    package_page(source, root / "python/tilewright")
    examples_page(source)
    for index in ("gallery/README.md", "decisions/README.md"):
        listed(source / index)
