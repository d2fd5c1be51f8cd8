// The flags that select the backend, the device and the precision in every program of the runtime.
#pragma once

#include "runtime/core/Backend.h"

#include <optional>
#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace syncline::launch {

/// What a program says where the processor does not have --precision bf16.
inline constexpr const char *missingBfloat16 =
    "this processor has no bfloat16 arithmetic (AVX512_BF16 or AMX)";

struct DeviceFlags {
  std::string backend = "cpu"; ///< of a run: its plan's
  std::optional<int> device;   ///< default: the device of the local rank's number
  bool sharesDevice = false;   ///< ranks beyond the devices start again at the first
  core::Precision precision = core::Precision::fp32;    ///< of a run: its plan's
  core::WirePrecision wire = core::WirePrecision::fp32; ///< of a run: its plan's

  /// The first given switch that only GPUs support, or null.
  const char *deviceSwitch() const;
  /// The options that must be equal on all ranks, as text.
  std::string sharedOptions() const;
};

/// The name of a precision, as plans and command lines spell it, and its inverse.
std::string precisionName(core::Precision precision);
std::optional<core::Precision> parsePrecision(const std::string &name);

/// Adds --device and --share-device to `group`. `flags` must outlive the parsing.
void addDeviceFlags(CLI::App &app, DeviceFlags &flags, const std::string &group);
/// Adds --backend and --precision, for what follows no plan. `flags` must outlive the parsing.
void addPlanlessFlags(CLI::App &app, DeviceFlags &flags, const std::string &group);

/// The error, after parsing, for a switch that the chosen backend does not support;
/// otherwise empty.
std::string checkDeviceFlags(const DeviceFlags &flags);

} // namespace syncline::launch
