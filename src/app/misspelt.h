// What a command line that cannot be understood should have been.
#pragma once

#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace spillway::app {

// One sentence: what is wrong, the nearest command or option, and where the rest is listed. After app.parse() threw.
std::string explain_misuse(const CLI::App& app, const CLI::Error& error);

}  // namespace spillway::app
