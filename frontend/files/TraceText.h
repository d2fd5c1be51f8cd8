// Cuts a trace into the texts of its events, so that none but the current one is held.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <functional>
#include <istream>
#include <string>

namespace syncline::files {

/// Where an event stands in the file.
struct EventPlace {
  std::size_t number; ///< from 1 on
  std::int64_t byte;  ///< of its first character, from 0 on
};

/// What is done with the parts of {"traceEvents": [...], "otherData": ...} or of the bare list.
struct TraceParts {
  /// A text that begins as an event does; what is wrong inside it is for the reader to say.
  std::function<Status(const std::string &text, const EventPlace &place)> event;
  std::function<Status(const std::string &text)> otherData;
};

/// Reads the whole stream and hands its parts on in their order. Values inside an event need not be
/// valid JSON: only brackets and quotation marks count, and a line's end within a text ends the
/// event, behind which the next line that opens one is the next. Errors, which begin with
/// `fileName`: badInput where the stream is no trace, is cut, nests deeper than `maxLevels`, or has
/// an event of more than 64 MiB; and the first error of `parts`.
Status cutTrace(std::istream &in, const std::string &fileName, int maxLevels,
                const TraceParts &parts);

} // namespace syncline::files
