// How this process, or the person who runs a command, is called in tables and messages.
#pragma once

#include <string>

namespace spillway::app {

// "host/1234"
std::string process_name();

// "user@host"
std::string person_name();

}  // namespace spillway::app
