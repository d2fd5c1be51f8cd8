// The flags for backend, device and precision, each documented once.
#include "runtime/launch/DeviceFlags.h"

#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"

#include <CLI/CLI.hpp>

#include <map>
#include <vector>

namespace syncline::launch {

using core::Precision;
using core::WirePrecision;

namespace {

const std::map<std::string, Precision> precisions = {
    {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}};
const std::map<std::string, WirePrecision> wires = {
    {"fp32", WirePrecision::fp32}, {"bf16", WirePrecision::bf16}, {"fp16", WirePrecision::fp16}};

template <typename T> std::string nameOf(const std::map<std::string, T> &names, T value) {
  for (const auto &[name, meant] : names)
    if (meant == value)
      return name;
  return {};
}

/// Adds an option that takes one of a few names, each of which stands for a value.
template <typename T>
CLI::Option *addChoice(CLI::App &app, const char *name, T &value,
                       const std::map<std::string, T> &by, const char *text) {
  std::vector<std::string> names;
  for (const auto &[spelled, meant] : by)
    names.push_back(spelled);
  return app
      .add_option_function<std::string>(
          name, [&value, &by](const std::string &spelled) { value = by.at(spelled); }, text)
      ->check(oneOf(names))
      ->type_name("TYPE");
}

} // namespace

const char *DeviceFlags::deviceSwitch() const {
  return device                         ? "--device"
         : sharesDevice                 ? "--share-device"
         : precision == Precision::tf32 ? "--precision tf32"
                                        : nullptr;
}

std::string DeviceFlags::sharedOptions() const {
  return "--precision " + nameOf(precisions, precision) + " --wire " + nameOf(wires, wire);
}

std::string addDeviceFlags(CLI::App &app, DeviceFlags &flags, const std::string &group) {
  app.add_option("--backend", flags.backend, "Compute on this backend")
      ->check(oneOf({"cpu", "cuda"}))
      ->capture_default_str()
      ->type_name("NAME")
      ->group(group);
  std::string gpus = "GPUs (--backend cuda)";
  auto *device =
      app.add_option(
             "--device", flags.device,
             "Compute on GPU N of those that this process sees (default: the local rank's number)")
          ->check(wholeNumber(0, "a GPU's number"))
          ->type_name("N")
          ->group(gpus);
  app.add_flag(
         "--share-device", flags.sharesDevice,
         "Let local ranks beyond the number of GPUs share them; messages then go through sockets")
      ->excludes(device)
      ->group(gpus);
  addChoice(
      app, "--precision", flags.precision, precisions,
      "Compute products and convolutions in TYPE, bf16 on GPUs and on CPUs that have it, tf32 "
      "on GPUs; weights, gradients and losses stay float32 (default fp32)")
      ->group(group);
  addChoice(app, "--wire", flags.wire, wires,
            "Send gradients in TYPE; GPUs add them in TYPE too, CPUs in float32 (default fp32)")
      ->group(group);
  return gpus;
}

std::string checkDeviceFlags(const DeviceFlags &flags) {
  const char *name = flags.deviceSwitch();
  return name && flags.backend == "cpu" ? std::string(name) + " needs --backend cuda" : "";
}

} // namespace syncline::launch
