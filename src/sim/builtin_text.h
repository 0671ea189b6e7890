// Texts compiled into the program: the scenario files, and the chart library of the report.
#pragma once

#include <string>
#include <vector>

namespace spillway::sim {

struct BuiltinText {
  std::string name;  // of the file
  std::string content;
};

const std::vector<BuiltinText>& builtin_texts();  // S1.yaml to S19.yaml, in order
const std::string& chart_script();
const std::string& chart_style();

}  // namespace spillway::sim
