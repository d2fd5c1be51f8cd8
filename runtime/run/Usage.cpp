// Memory from the system; exchanging what each rank has used as text.
#include "runtime/run/Usage.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/resource.h>

namespace syncline::run {

// A program's largest memory in getrusage() begins with that of the process that started it. The
// kernel's record of this program's own memory therefore comes first.
std::int64_t peakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::int64_t kib = 0; word == "VmHWM:" && status >> kib)
      return kib * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

Result<Usage> largestUsage(transport::Group *group, const Usage &own, double timeoutSeconds) {
  if (!group)
    return own;
  group->enter("at the end of the run");
  std::ostringstream text;
  text << own.peakBytes;
  if (own.traffic)
    text << ' ' << own.traffic->sent << ' ' << own.traffic->received;
  SYNCLINE_TRY_GET(
      all, group->gather("used", text.str(), timeoutSeconds, transport::Participants::workers));
  Usage largest = own;
  for (const std::string &other : *all) {
    std::int64_t memory = 0;
    transport::Traffic moved;
    std::istringstream(other) >> memory >> moved.sent >> moved.received;
    largest.peakBytes = std::max(largest.peakBytes, memory);
    transport::Traffic &most = largest.traffic ? *largest.traffic : moved;
    if (moved.sent + moved.received > most.sent + most.received)
      most = moved;
  }
  return largest;
}

} // namespace syncline::run
