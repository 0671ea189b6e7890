"""Turns the results of `run` into the table in docs/benchmarks.md, between its two marker lines."""
import csv
import pathlib
import sys

OURS = {"BreakerAdmitAndRecord": "breaker", "BreakerRefusesWhenOpen": "refusal",
        "BulkheadPair": "bulkhead", "PipelineOnSuccess": "pipeline"}
ROWS = {"breaker": "breaker, admit and record", "refusal": "refusal when open",
        "bulkhead": "bulkhead, take and return", "pipeline": "whole pipeline on success"}
BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"


def best_of_ours(path):
    best = {}
    for line in csv.reader(path.read_text().splitlines()):
        if len(line) > 2 and line[0] in OURS:
            name = OURS[line[0]]
            best[name] = min(best.get(name, float("inf")), float(line[2]))
    return best


def best_of_peer(path):
    best = {}
    for line in path.read_text().splitlines():
        name, least, _ = line.split()
        best[name] = min(best.get(name, float("inf")), float(least))
    return best


def table(work):
    ours = best_of_ours(work / "ours.csv")
    peers = {"failsafe-go": "go.txt", "resilience4j": "java.txt", "Rust": "rust.txt"}
    figures = {peer: best_of_peer(work / file) for peer, file in peers.items()}
    lines = ["| | this library | " + " | ".join(f"{p} | ratio" for p in peers) + " |",
             "|---" * (2 + 2 * len(peers)) + "|"]
    for key, label in ROWS.items():
        cells = [label, f"{ours[key]:.1f} ns"]
        for peer in peers:
            cells += [f"{figures[peer][key]:.1f} ns", f"{figures[peer][key] / ours[key]:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    work, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = page.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    new = table(work)
    page.write_text(f"{before}{BEGIN}\n{new}\n{END}{after}")
    print(new)


main()
