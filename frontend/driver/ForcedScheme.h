// What `--scheme LAYER=SCHEME` says.
#pragma once

#include "syncline/Status.h"

#include <string>
#include <string_view>

namespace syncline::driver {

/// "LAYER=SCHEME" as the pass `pose-problem` takes it: LAYER, a glob over names of parameters or
/// layers, as it was given (all before the last '='), SCHEME by its full name ("sfb" becomes
/// "factors", "ps" becomes "parameter-server"). badUsage, with the schemes there are, where a part
/// is missing or the scheme is unknown; that a glob matches something is the pass's to see.
Result<std::string> forcedScheme(std::string_view text);

/// "ring, recursive-doubling, ..., factors (or sfb)": for help texts and messages.
std::string schemeList();

} // namespace syncline::driver
