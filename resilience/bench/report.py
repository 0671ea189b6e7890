#!/usr/bin/env python3
"""Runs resilience_bench and writes its figures into docs/benchmarks.md, between the two marker lines.

    resilience/bench/report.py build/resilience/bench/resilience_bench

One thread: many short repetitions, the least of each, which on a shared machine is what the code costs when it is left
alone. Several threads on one object: longer repetitions, the median; wall time divided by all their calls.
"""
import csv
import pathlib
import statistics
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
ROWS = {
    "BreakerAdmitAndRecord": ("breaker, admit and record, time given", "<= 90"),
    "BreakerAdmitAndRecordWithClock": ("breaker, admit and record, with two clock readings", ""),
    "BreakerRefusesWhenOpen": ("breaker, refusal when open, with a clock reading", "<= 45"),
    "BulkheadPair": ("bulkhead, take and return", "<= 20"),
    "RateLimiterTurn": ("rate limiter, a turn, with a clock reading", ""),
    "BudgetWithdrawAndDeposit": ("retry budget, withdraw and deposit", ""),
    "PipelineOnSuccess": ("pipeline of seven stages on success", "<= 160"),
}


def run(bench, only, min_time, repetitions):
    out = subprocess.run([bench, f"--benchmark_filter={only}", f"--benchmark_min_time={min_time}",
                          f"--benchmark_repetitions={repetitions}", "--benchmark_format=csv"],
                         check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    for row in csv.reader(out.splitlines()):
        name = row[0].split("/")
        if name[0] in ROWS and not row[0].endswith(("_mean", "_median", "_stddev", "_cv")):
            threads = next((int(part.split(":")[1]) for part in name if part.startswith("threads:")), 1)
            yield name[0], threads, float(row[2]), row[-1]


def measure(bench):
    alone, together, allocations = {}, {}, {}
    for name, _, time, made in run(bench, "^[A-Za-z]*$", 0.002, 200):
        alone[name] = min(alone.get(name, float("inf")), time)
        allocations[name] = max(allocations.get(name, 0), int(float(made)))
    for name, threads, time, _ in run(bench, "threads:", 0.1, 7):
        together.setdefault((name, threads), []).append(time)
    figures = {(name, 1): time for name, time in alone.items()}
    figures |= {key: statistics.median(times) for key, times in together.items()}
    return figures, allocations


def main():
    figures, allocations = measure(sys.argv[1])
    lines = ["| ns a call | asked | 1 thread | 2 threads | 8 threads | allocations |", "|---|---|---|---|---|---|"]
    for name, (label, asked) in ROWS.items():
        cells = " | ".join(f"{figures[name, threads]:.1f}" for threads in (1, 2, 8))
        lines.append(f"| {label} | {asked} | {cells} | {allocations[name]} |")
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
    print(table)


main()
