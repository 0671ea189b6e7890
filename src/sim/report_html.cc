#include "sim/report_html.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/builtin_text.h"
#include "sim/summary.h"

namespace spillway::sim {

namespace {

using nlohmann::json;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// Absent seconds are null, which the charts show as a gap.
json series(const RunResult& r, float SecondOfRun::*figure, double unit, bool zero_is_absent = false) {
  json values = json::array();
  for (const SecondOfRun& s : r.seconds) {
    const double value = static_cast<double>(s.*figure) * unit;
    values.push_back(zero_is_absent && value == 0 ? json(nullptr) : json(std::round(value * 10) / 10));
  }
  return values;
}

json charts_of(const RunResult& r) {
  json t = json::array();
  json ceiling = json::array();
  for (std::size_t i = 0; i < r.seconds.size(); ++i) {
    t.push_back(i);
    ceiling.push_back(r.ceiling_s * 1000);
  }
  return {{"title", fmt::format("{}, {}, seed {}", r.scenario, r.law, r.seed)},
          {"t", t},
          {"ceiling", ceiling},
          {"sent", series(r, &SecondOfRun::sent, 1)},
          {"capacity", series(r, &SecondOfRun::capacity, 1)},
          {"estimate", series(r, &SecondOfRun::estimate, 1, true)},
          {"live", series(r, &SecondOfRun::live_offered, 1)},
          {"backlog", series(r, &SecondOfRun::backlog, 1)},
          {"held", series(r, &SecondOfRun::held, 1)},
          {"p99", series(r, &SecondOfRun::p99_s, 1000, true)},
          {"live_p99", series(r, &SecondOfRun::live_p99_s, 1000, true)}};
}

std::string summary_rows(std::span<const RunResult> results) {
  std::string rows;
  for (const Summary& s : summarise(results)) {
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{} of {}</td><td>{}</td><td>{:.0f} ({:.0f})</td><td>{:.0f}</td>"
        "<td>{:.1f}</td><td>{:.0f}</td><td>{:.3f}</td></tr>\n",
        escaped(s.scenario), escaped(s.law), s.recovered, s.seeds,
        s.ratio ? fmt::format("{:.3f} ({:.3f})", s.ratio->median, s.ratio->worst) : "never", s.seconds_over.median,
        s.seconds_over.worst, s.oracle_seconds_over.median, s.longest_hold_s.median, s.worst_p99_s.median * 1000,
        s.attempts_per_event.median);
  }
  return rows;
}

constexpr const char* kStyle = R"(
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:1100px;padding:0 1rem;color:#1c2330;background:#fff}
table{border-collapse:collapse;margin:1rem 0}th,td{padding:.3rem .7rem;border-bottom:1px solid #d8dde6;text-align:right}
th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}h2{margin-top:2.5rem}
@media(prefers-color-scheme:dark){body{color:#dfe5ee;background:#141922}th,td{border-color:#333c4a}}
)";

constexpr const char* kScript = R"js(
const root = document.getElementById("charts");
const ink = matchMedia("(prefers-color-scheme: dark)").matches ? "#dfe5ee" : "#1c2330";
const grid = {stroke : "#8884", width : 1};
function draw(parent, run, title, unit, lines, log) {
  const data = [ run.t, ... lines.map(l = > run[l[1]]) ];
  const options = {
    title,
    width : Math.min(1080, document.body.clientWidth - 32),
    height : 240,
    scales : {x : {time : false}, y : {distr : log ? 3 : 1}},
    axes : [ {stroke : ink, grid, label : "seconds"}, {stroke : ink, grid, label : unit, size : 80} ],
    series : [ {label : "s"}, ... lines.map(l = > ({label : l[0], stroke : l[2], width : 1.5, dash : l[3] || []})) ]
  };
  new uPlot(options, data, parent);
}
for (const run of runs) {
  const part = document.createElement("section");
  const head = document.createElement("h2");
  head.textContent = run.title;
  part.append(head);
  root.append(part);
  draw(part, run, "Rate against capacity", "events/s", [
    [ "sent", "sent", "#2a78d6" ], [ "capacity", "capacity", "#1a9a5b" ],
    [ "estimate", "estimate", "#c08a1e", [ 4, 4 ] ], [ "live offered", "live", "#8a63c9" ]
  ]);
  draw(part, run, "Backlog, and live held in the outbox", "events",
       [ [ "backlog", "backlog", "#2a78d6" ], [ "live held", "held", "#d0454c" ] ]);
  draw(part, run, "p99 of all answers, and the ceiling", "ms",
       [ [ "p99", "p99", "#2a78d6" ], [ "ceiling", "ceiling", "#d0454c", [ 6, 4 ] ] ], true);
  draw(part, run, "p99 of live traffic", "ms",
       [ [ "live p99", "live_p99", "#8a63c9" ], [ "ceiling", "ceiling", "#d0454c", [ 6, 4 ] ] ], true);
}
)js";

}  // namespace

std::string to_html(std::span<const RunResult> results) {
  json runs = json::array();
  for (const RunResult& r : results) {
    if (!r.seconds.empty()) runs.push_back(charts_of(r));
  }
  std::string data = runs.dump();
  for (std::size_t at = 0; (at = data.find("</", at)) != std::string::npos; at += 3) data.replace(at, 2, "<\\/");
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Spillway simulation</title>\n<style>";
  page += chart_style();
  page += kStyle;
  page +=
      "</style></head><body>\n<h1>Simulated recovery</h1>\n<table><tr><th>scenario</th><th>governor</th>"
      "<th>recovered</th><th>clear ÷ ideal (worst)</th><th>s over ceiling (worst)</th><th>oracle</th>"
      "<th>live held, s</th><th>worst p99, ms</th><th>attempts per event</th></tr>\n";
  page += summary_rows(results);
  page += "</table>\n<div id=\"charts\"></div>\n<script>";
  page += chart_script();
  page += "</script>\n<script>const runs = ";
  page += data;
  page += ";";
  page += kScript;
  page += "</script>\n</body></html>\n";
  return page;
}

}  // namespace spillway::sim
