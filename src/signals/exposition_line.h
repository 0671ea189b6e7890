// One line of exposition text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway::signals {

struct SampleLine {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string>> labels;  // values unescaped
  double value = 0;
  std::string_view series;  // name and labels as they stand
};

// NAME[{LABEL="VALUE",…}] VALUE [TIMESTAMP] [# EXEMPLAR]. Empty where it is not of that form.
std::optional<SampleLine> read_sample_line(std::string_view line);

// As Prometheus writes numbers: "1", "-0.5e3", "+Inf", "NaN".
std::optional<double> read_number(std::string_view text);

}  // namespace spillway::signals
