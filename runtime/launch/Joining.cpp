// Joining by an identity, and reporting errors before the process ends.
#include "runtime/launch/Joining.h"

#include "runtime/launch/Processors.h"
#include "syncline/Printable.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace syncline::launch {

Result<std::unique_ptr<transport::Group>> joinGroup(const Identity &identity, double startSeconds) {
  transport::GroupOptions how;
  how.rank = identity.rank;
  how.size = identity.size;
  how.workers = identity.workers();
  how.address = identity.masterAddress;
  how.port = identity.masterPort;
  how.listener = identity.listener;
  how.interface = identity.interface;
  how.key.job = identity.job;
  how.startSeconds = startSeconds;
  if (const char *secret = std::getenv(secretVariable)) {
    how.key.secret = secret;
    // It travels with a rank's first words, of which rank 0 takes 512 bytes.
    if (constexpr std::size_t most = 128; how.key.secret.size() > most)
      return Status::error(ErrorKind::badUsage, std::string(secretVariable) +
                                                    ": expected at most " + std::to_string(most) +
                                                    " bytes, got " +
                                                    std::to_string(how.key.secret.size()));
    unsetenv(secretVariable); // processes that this one starts are no ranks
  }
  return transport::Group::join(how);
}

/// A number of processors, such as "2" or "0.5".
static std::string asText(double processors) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", processors);
  return text;
}

Result<std::vector<std::string>> notesOnThreads(int threads, transport::Group *group, int workers,
                                                double seconds) {
  std::vector<std::string> notes;
  if (std::string text = ignoredThreads(std::getenv("OMP_NUM_THREADS"), threads); !text.empty())
    notes.push_back(std::move(text));
  std::vector<std::string> processors{asText(grantedProcessors())};
  if (group) {
    SYNCLINE_TRY_GET(
        all, group->gather("processors", processors[0], seconds, transport::Participants::workers));
    processors = std::move(*all);
  }
  std::vector<int> lacking;
  double least = threads;
  for (std::size_t rank = 0; rank < processors.size(); ++rank)
    if (const double usable = std::atof(processors[rank].c_str()); usable < threads) {
      lacking.push_back(static_cast<int>(rank));
      least = std::min(least, usable);
    }
  if (!lacking.empty())
    notes.push_back("'--threads " + std::to_string(threads) + "' is more than the " +
                    asText(least) + (least == 1 ? " processor" : " processors") + " that " +
                    core::RankNames{workers}.of(lacking) + " may use: threads wait for each other");
  return notes;
}

int conclude(const std::string &program, const Status &status, transport::Group *group) {
  if (status)
    return 0;
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), printable(status.message()).c_str());
  if (group)
    group->abandon(status);
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(status.exitCode());
}

} // namespace syncline::launch
