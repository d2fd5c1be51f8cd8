// NCCL's tuner plugin on the host: found by NCCL_TUNER_PLUGIN, loaded while a communicator exists,
// and asked for each collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace syncline::hostcuda {

/// NCCL's numbers.
inline constexpr int allReduceNumber = 4, ringNumber = 1, nvlsNumber = 4;

/// What an all-reduce takes longer unless it is by NVLS, in microseconds; 0 where there is no NVLS.
std::uint64_t nvlsGain();

/// What NCCL takes by itself.
int ownChoice(int collective);

/// One communicator's tuner.
class NcclTuner {
public:
  /// Null where no plugin is named or it does not load, of which NCCL only tells those who ask for
  /// its log. Throws std::runtime_error with the plugin's warning where the plugin refuses.
  static std::unique_ptr<NcclTuner> load(std::size_t ranks);
  ~NcclTuner();
  NcclTuner(const NcclTuner &) = delete;
  NcclTuner &operator=(const NcclTuner &) = delete;

  /// Asks about a collective of `bytes` bytes, as NCCL counts them. Returns the number of the
  /// algorithm that NCCL then takes.
  int ask(int collective, std::size_t bytes);

private:
  struct Module;
  explicit NcclTuner(std::shared_ptr<Module> module) : module(std::move(module)) {}

  std::shared_ptr<Module> module;
  void *context = nullptr;
};

} // namespace syncline::hostcuda
