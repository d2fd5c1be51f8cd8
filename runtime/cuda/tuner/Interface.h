// The part of NCCL's tuner interface (versions 4 and 5) that this tuner needs, declared after
// NCCL's documentation (plugins/tuner), so that the tuner can be built without NCCL's headers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {

/// Return values of calls. NCCL shows the user its last warning.
enum SynclineNcclResult { synclineNcclSuccess = 0, synclineNcclInvalidUsage = 5 };

/// NCCL's log function. `level` 2 is a warning, which ncclGetLastError() returns; `flags`
/// name subsystems.
using SynclineNcclLog = void (*)(int level, unsigned long flags, const char *file, int line,
                                 const char *format, ...);

/// Writes costs into `table`, one float for each algorithm and each of its protocols. NCCL takes
/// the least cost that is not negative; -1 marks a combination that cannot be used. `channels`
/// stays 0 for NCCL's choice.
using SynclineNcclChoose = int (*)(void *context, int collective, std::size_t bytes, int operations,
                                   float **table, int algorithms, int protocols, int isRegistered,
                                   int *channels);

struct SynclineNcclTunerV4 {
  const char *name;
  int (*init)(std::size_t ranks, std::size_t nodes, SynclineNcclLog log, void **context);
  SynclineNcclChoose choose;
  int (*destroy)(void *context);
};

struct SynclineNcclTunerV5 {
  const char *name;
  int (*init)(void **context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes,
              SynclineNcclLog log, void *domains, void *constants);
  SynclineNcclChoose choose;
  int (*finalize)(void *context);
};

/// What this process's tuner has been asked, over all communicators. Any thread reads it.
struct SynclineNcclTunerNotes {
  std::atomic<std::int64_t> asked;  ///< messages for which NCCL asked
  std::atomic<std::int64_t> unable; ///< of these, those whose algorithm NCCL could not use
};

/// The symbol that a run looks up.
__attribute__((visibility("default"))) extern SynclineNcclTunerNotes synclineNcclTunerNotes;

/// The symbols that NCCL looks up.
__attribute__((visibility("default"))) extern const SynclineNcclTunerV4 ncclTunerPlugin_v4;
__attribute__((visibility("default"))) extern const SynclineNcclTunerV5 ncclTunerPlugin_v5;
}
