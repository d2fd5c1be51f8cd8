// NCCL's interface to tuners as far as ours needs it, versions 4 and 5, declared after its
// documentation (NCCL's plugins/tuner): NCCL's headers are not needed to build a tuner.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// What calls return; NCCL tells the user of the rest by its last warning.
enum SynclineNcclResult { synclineNcclSuccess = 0, synclineNcclInvalidUsage = 5 };

/// NCCL's log: `level` 2 warns and is kept for ncclGetLastError(); `flags` name subsystems.
using SynclineNcclLog = void (*)(int level, unsigned long flags, const char *file, int line,
                                 const char *format, ...);

/// Writes costs into `table`, a float for each algorithm and, within it, each protocol; NCCL takes
/// the least that is not negative (-1: cannot be used). `channels` stays 0 for NCCL's choice.
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

/// Where NCCL looks for them.
__attribute__((visibility("default"))) extern const SynclineNcclTunerV4 ncclTunerPlugin_v4;
__attribute__((visibility("default"))) extern const SynclineNcclTunerV5 ncclTunerPlugin_v5;
}
