// The flags by which every program of the runtime is told where to compute, and how GPUs do.
#pragma once

#include "runtime/core/Backend.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace syncline {

struct DeviceFlags {
  std::string backend = "cpu";
  std::optional<int> device; ///< default the local rank's
  bool sharesDevice = false; ///< ranks beyond the devices begin with the first again
  Precision precision = Precision::fp32;
  WirePrecision wire = WirePrecision::fp32;

  /// Of what only GPUs know, the first switch that was given, or null.
  const char *deviceSwitch() const;
  /// What all ranks must have alike, as text.
  std::string sharedOptions() const;
};

/// Adds --backend to the group named and --device, --share-device, --precision and --wire to one of
/// their own, whose name it returns; `flags` must outlive the parsing.
std::string addDeviceFlags(CLI::App &app, DeviceFlags &flags, const std::string &group);

/// Empty, or what is wrong once all is parsed: a switch that the backend does not know.
std::string checkDeviceFlags(const DeviceFlags &flags);

} // namespace syncline
