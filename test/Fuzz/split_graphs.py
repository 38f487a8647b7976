"""split_graphs.py OUT DIR...: writes every module text of the folders' .mlir files, split at `// -----`, into a file of its own."""
import pathlib
import sys

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for folder in map(pathlib.Path, sys.argv[2:]):
    for file in sorted(folder.rglob("*.mlir")):
        stem = "-".join(file.relative_to(folder).with_suffix("").parts)
        for number, text in enumerate(file.read_text().split("// -----")):
            lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("//")]
            if lines:
                (out / f"{stem}-{number}.mlir").write_text("\n".join(lines) + "\n")
