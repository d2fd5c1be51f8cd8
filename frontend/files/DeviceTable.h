// DeviceTable: devices.yaml, which is part of the program, as structs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::files {

/// A kind of device, with the values of its data sheet.
struct DeviceKind {
  std::string name;
  std::string generation;              ///< empty for a processor
  std::map<std::string, double> peaks; ///< FLOP/s by precision; fp32 is among them
  double bandwidth = 0;                ///< bytes/s
  std::int64_t memorySize = 0;         ///< bytes; 0: nothing is said of it
  double multiprocessors = 0;
  std::int64_t capability = 0; ///< compute capability times ten; 0: not NVIDIA's
  std::string nvlink;          ///< kind of link of all its NVLinks; empty: it has none

  bool isGpu() const { return !generation.empty(); }
};

/// How far predictions of published runs were off that no fit had seen.
struct Doubt {
  int runs = 0;
  double median = 0, ninth = 0; ///< |error| of half of the runs at most, of nine of ten

  /// Whether there are enough runs for `ninth` to say something of the next one.
  bool isRange() const {
    constexpr int fewest = 3;
    return runs >= fewest;
  }
};

/// All kinds, in the file's order.
const std::vector<DeviceKind> &allDeviceKinds();
/// Null for a kind that there is not.
const DeviceKind *findDeviceKind(std::string_view name);

/// The numbers by which a GPU's kernels are predicted (passes/cost/DeviceModel.h), by name: those
/// of all devices, of `like`, of the kind's generation, and its own. cluster::allLikes has what
/// `like` may be.
std::map<std::string, double> kernelNumbers(const DeviceKind &kind, std::string_view like);

/// The doubt of predictions for a kind by the kernels of `like`; nothing where no run on it was
/// published. All published runs are PyTorch's.
std::optional<Doubt> doubtOf(std::string_view kind, std::string_view like);

} // namespace syncline::files
