// The version of the library that is loaded, which may differ from the one built against.
#pragma once

#include <string>

namespace spillway::sqlite {

std::string library_version();

}  // namespace spillway::sqlite
