// Filling syncline_error.
#include "runtime/api/Failure.h"

#include <cstring>

namespace syncline::api {

Failure Failure::of(const Status &status, int rank) {
  if (status)
    return {};
  switch (status.kind()) {
  case ErrorKind::badInput:
    return {SYNCLINE_BAD_INPUT, status.message()};
  case ErrorKind::badUsage:
    return badUsage(status.message());
  case ErrorKind::peerLost:
    return {SYNCLINE_PEER_LOST, status.message(), rank};
  case ErrorKind::internal:
    break;
  }
  return {SYNCLINE_INTERNAL, status.message()};
}

int Failure::tell(syncline_error *error) const {
  if (!error)
    return code;
  *error = {};
  error->code = code;
  error->rank = rank;
  error->message = message;
  error->step = step;
  constexpr std::size_t most = sizeof error->text - 1;
  const bool isCut = text.size() > most;
  std::memcpy(error->text, text.data(), isCut ? most : text.size());
  if (isCut)
    std::memcpy(error->text + most - 3, "...", 3);
  return code;
}

} // namespace syncline::api
