// `spillway version`.
#pragma once

#include <iosfwd>

namespace spillway::app {

// One line a library, as loaded at run time. Always 0.
int print_version(std::ostream& out);

}  // namespace spillway::app
