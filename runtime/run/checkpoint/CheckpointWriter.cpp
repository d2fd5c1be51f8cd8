// The thread of a checkpoint.
#include "runtime/run/checkpoint/CheckpointWriter.h"

#include "runtime/core/Deadline.h"
#include "runtime/core/Guarded.h"

#include <filesystem>

namespace syncline::run {

void CheckpointWriter::wait() {
  if (thread.joinable())
    thread.join();
}

void CheckpointWriter::begin(const CheckpointImage &image) {
  thread = std::thread([this, &image] {
    const auto begun = core::Clock::now();
    outcome = core::guarded([&] { return write(image); });
    took = core::secondsSince(begun);
  });
}

CheckpointReport CheckpointWriter::writeOwn(const CheckpointImage &image) const {
  const std::int64_t step = image.manifest.step;
  std::error_code ignored;
  // An older checkpoint of this step is none as soon as one of its files is replaced.
  if (rank == 0 && !std::filesystem::is_symlink(folder.of(step), ignored))
    std::filesystem::remove(folder.manifestOf(step), ignored);
  std::filesystem::create_directories(folder.of(step), ignored);
  const auto written = writeCheckpointFile(folder.fileOf(step, rank), image.parts);
  return written ? CheckpointReport{*written, ""}
                 : CheckpointReport{{}, written.status().message()};
}

Status CheckpointWriter::write(const CheckpointImage &image) {
  const std::int64_t step = image.manifest.step;
  const CheckpointReport own = writeOwn(image);
  SYNCLINE_TRY_GET(all, links.collect(step, own));
  if (rank != 0)
    return Status::ok();
  CheckpointManifest manifest = image.manifest;
  for (std::size_t other = 0; other < all->size(); ++other) {
    const CheckpointReport &report = (*all)[other];
    if (!report.error.empty()) {
      folder.remove(step);
      return Status::badInput("checkpoint '" + folder.of(step) + "' is not written: rank " +
                              std::to_string(other) + ": " + report.error);
    }
    manifest.files.push_back(report.digest);
  }
  if (Status s = folder.complete(manifest); !s) {
    folder.remove(step);
    return Status::badInput("checkpoint '" + folder.of(step) + "' is not written: " + s.message());
  }
  folder.prune(step, keep);
  return Status::ok();
}

} // namespace syncline::run
