// Whether a file of certificates can be used, known before anything is asked.
#pragma once

#include <string>

#include "base/result.h"

namespace spillway::http {

// Of GetterOptions::ca. kMisconfigured: "PATH: No such file or directory", "PATH: holds no certificates in PEM form".
base::Status check_trust(const std::string& ca);

}  // namespace spillway::http
