// Rank 0 proposes checkpoints from the newest on, and every rank judges its files.
#include "runtime/run/checkpoint/CheckpointChoice.h"

#include "runtime/core/Deadline.h"
#include "runtime/run/checkpoint/Sha256.h"
#include "syncline/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <unistd.h>

namespace syncline::run {
namespace {

namespace fs = std::filesystem;

/// The first character of what rank 0 says where the run ends.
constexpr char errorMark = '!';
/// The first character of what a rank says that does not see the folder.
constexpr char unseenMark = '?';

/// Network file systems may show a new file late.
constexpr double secondsUntilSeen = 5;

Status errorOf(const std::string &said) { return Status::badInput(said.substr(1)); }

} // namespace

/// Exchanges one value of each worker.
Result<std::vector<std::string>> CheckpointChoice::gather(const std::string &value) {
  if (!ranks.group)
    return std::vector<std::string>{value};
  return ranks.group->gather("checkpoint/" + std::to_string(gathered++), value, ranks.seconds,
                             transport::Participants::workers);
}

/// On rank 0: makes and locks the folder, with a file in it, whose name it returns in `token`.
/// Returns an error, or nothing.
std::string CheckpointChoice::makeFolder(std::string &token) {
  if (Status s = expectWritableFolder(folder.path); !s)
    return s.message();
  std::error_code error;
  fs::create_directories(folder.path, error);
  if (error)
    return "'" + folder.path + "': cannot create: " + error.message();
  Result<CheckpointLock> taken = CheckpointLock::take(folder.path);
  if (!taken)
    return taken.status().message();
  lock.emplace(std::move(*taken));
  if (!lock->missing().empty())
    ranks.note("'" + folder.path + "' cannot be locked: " + lock->missing() +
               ": nothing keeps another run out");
  Result<std::string> made = folder.makeToken();
  if (!made)
    return made.status().message();
  token = std::move(*made);
  return "";
}

/// An error where this rank does not see rank 0's file or cannot write beside it, or nothing.
std::string CheckpointChoice::seeToken(const std::string &token) const {
  const core::Deadline deadline = core::deadlineIn(secondsUntilSeen);
  std::error_code ignored;
  while (!fs::exists(folder.path + "/" + token, ignored)) {
    if (core::Clock::now() >= deadline)
      return "rank " + std::to_string(rank()) + " does not see what rank 0 writes in '" +
             folder.path + "': all ranks need the same folder";
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (access(folder.path.c_str(), W_OK | X_OK) == 0)
    return "";
  return "rank " + std::to_string(rank()) + ": '" + folder.path +
         "': cannot write: " + std::strerror(errno);
}

Status CheckpointChoice::open() {
  std::string token, error;
  if (isFirst())
    error = makeFolder(token);
  SYNCLINE_TRY_GET(said, gather(error.empty() ? token : errorMark + error));
  if (said->front().starts_with(errorMark))
    return errorOf(said->front());
  const auto seen = gather(seeToken(said->front()));
  std::error_code ignored;
  if (isFirst())
    fs::remove(folder.path + "/" + token, ignored);
  if (!seen)
    return seen.status();
  for (const std::string &problem : *seen)
    if (!problem.empty())
      return Status::badInput(problem);
  return Status::ok();
}

Status CheckpointChoice::expectNone() {
  std::string error;
  for (const CheckpointFolder::Entry &entry : folder.list())
    if (isFirst() && entry.hasManifest && error.empty())
      error = "'" + folder.path + "' has checkpoints of an earlier run, the last one after " +
              std::to_string(entry.step) +
              " steps: '--resume' goes on from there, expected an empty folder";
  if (isFirst() && error.empty())
    for (const CheckpointFolder::Entry &entry : folder.list())
      folder.remove(entry.step);
  SYNCLINE_TRY_GET(said, gather(error));
  return said->front().empty() ? Status::ok() : Status::badInput(said->front());
}

void CheckpointChoice::refuse(std::int64_t step, const std::string &why) {
  hasRefused = true;
  if (isFirst())
    ranks.note("checkpoint '" + folder.of(step) + "' is refused: " + why);
}

/// On rank 0: "STEP SHA-256" of the next manifest that may do, "" where there is none, or an error.
std::string
CheckpointChoice::propose(const std::function<Opinion(const CheckpointManifest &)> &judge) {
  if (!left)
    left = folder.list();
  while (!left->empty()) {
    const CheckpointFolder::Entry entry = left->front();
    left->erase(left->begin());
    if (!entry.hasManifest) {
      ranks.note("'" + folder.of(entry.step) + "' was not finished and is left out");
      folder.remove(entry.step);
      continue;
    }
    const Result<std::string> text = folder.readManifest(entry.step);
    const auto manifest = text ? CheckpointManifest::parse(*text) : text.status();
    if (!manifest) {
      refuse(entry.step, manifest.status().message());
      continue;
    }
    if (manifest->step != entry.step) {
      refuse(entry.step, "its manifest is that of step " + std::to_string(manifest->step));
      continue;
    }
    const Opinion opinion = judge(*manifest);
    if (!opinion.error.empty())
      return errorMark + ("checkpoint '" + folder.of(entry.step) + "': " + opinion.error);
    if (opinion.refusal.empty())
      return std::to_string(entry.step) + " " + sha256(*text);
    refuse(entry.step, opinion.refusal);
  }
  if (hasRefused)
    return errorMark + ("no checkpoint in '" + folder.path + "' can be resumed from");
  return "";
}

/// Why the files that this rank checks are no good; empty where they are.
std::string CheckpointChoice::judgeOwnFiles(const CheckpointManifest &manifest) const {
  for (int other = rank(); other < manifest.ranks; other += size()) {
    const std::string why = CheckpointManifest::whyBad(
        folder.fileOf(manifest.step, other), manifest.files[static_cast<std::size_t>(other)]);
    if (!why.empty())
      return "rank " + std::to_string(other) + "'s file " + why;
  }
  return "";
}

Result<std::optional<CheckpointManifest>>
CheckpointChoice::choose(const std::function<Opinion(const CheckpointManifest &)> &judge) {
  for (;;) {
    SYNCLINE_TRY_GET(proposals, gather(isFirst() ? propose(judge) : ""));
    const std::string &proposal = proposals->front();
    if (proposal.empty())
      return std::optional<CheckpointManifest>();
    if (proposal.starts_with(errorMark))
      return errorOf(proposal);
    const std::int64_t step = std::atoll(proposal.c_str());
    const Result<std::string> text = folder.readManifest(step);
    auto manifest = text ? CheckpointManifest::parse(*text) : text.status();
    const bool isSeen = manifest && proposal.ends_with(" " + sha256(*text));
    SYNCLINE_TRY_GET(verdicts, gather(isSeen ? judgeOwnFiles(*manifest)
                                             : unseenMark + ("rank " + std::to_string(rank()) +
                                                             " does not see rank 0's '" +
                                                             folder.manifestOf(step) +
                                                             "': all ranks need the same folder")));
    std::string why;
    for (const std::string &verdict : *verdicts) {
      if (verdict.starts_with(unseenMark))
        return errorOf(verdict);
      why += (why.empty() || verdict.empty() ? "" : ", ") + verdict;
    }
    if (why.empty())
      return std::optional<CheckpointManifest>(std::move(*manifest));
    refuse(step, why);
  }
}

} // namespace syncline::run
