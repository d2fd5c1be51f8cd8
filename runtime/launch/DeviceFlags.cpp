// The flags for backend, device and precision, each documented once.
#include "runtime/launch/DeviceFlags.h"

#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"

#include <CLI/CLI.hpp>

#include <map>
#include <vector>

namespace syncline::launch {

using core::Precision;

namespace {

const std::map<std::string, Precision> precisions = {
    {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}};

std::vector<std::string> precisionNames() {
  std::vector<std::string> names;
  for (const auto &[name, meant] : precisions)
    names.push_back(name);
  return names;
}

} // namespace

const char *DeviceFlags::deviceSwitch() const {
  return device                         ? "--device"
         : sharesDevice                 ? "--share-device"
         : precision == Precision::tf32 ? "--precision tf32"
                                        : nullptr;
}

std::string DeviceFlags::sharedOptions() const {
  return "--precision " + precisionName(precision) + " --wire " + std::string(wireName(wire));
}

std::string precisionName(Precision precision) {
  for (const auto &[name, meant] : precisions)
    if (meant == precision)
      return name;
  return {};
}

std::optional<Precision> parsePrecision(const std::string &name) {
  const auto found = precisions.find(name);
  return found == precisions.end() ? std::nullopt : std::optional(found->second);
}

void addDeviceFlags(CLI::App &app, DeviceFlags &flags, const std::string &group) {
  auto *device =
      app.add_option(
             "--device", flags.device,
             "Compute on GPU N of those that this process sees (default: the local rank's number)")
          ->check(wholeNumber(0, "a GPU's number"))
          ->type_name("N")
          ->group(group);
  app.add_flag(
         "--share-device", flags.sharesDevice,
         "Let local ranks beyond the number of GPUs share them; messages then go through sockets")
      ->excludes(device)
      ->group(group);
}

void addPlanlessFlags(CLI::App &app, DeviceFlags &flags, const std::string &group) {
  app.add_option("--backend", flags.backend, "Compute on this backend")
      ->check(oneOf({"cpu", "cuda"}))
      ->capture_default_str()
      ->type_name("NAME")
      ->group(group);
  app.add_option_function<std::string>(
         "--precision",
         [&flags](const std::string &name) { flags.precision = *parsePrecision(name); },
         "Compute products and convolutions in TYPE, bf16 on GPUs and on CPUs that have it, tf32 "
         "on GPUs; weights, gradients and losses stay float32 (default fp32)")
      ->check(oneOf(precisionNames()))
      ->type_name("TYPE")
      ->group(group);
}

std::string checkDeviceFlags(const DeviceFlags &flags) {
  const char *name = flags.deviceSwitch();
  return name && flags.backend == "cpu" ? std::string(name) + " needs --backend cuda" : "";
}

} // namespace syncline::launch
