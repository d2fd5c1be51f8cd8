// Reads the optimizer's switches and compares them with the plan's optimizer.
#include "runtime/run/options/OptimizerFlags.h"

#include "runtime/launch/CliChecks.h"

#include <cmath>
#include <cstdlib>
#include <fnmatch.h>
#include <sstream>

#include <CLI/CLI.hpp>

namespace syncline::run {
namespace {

/// Rates, decays and SGD's momentum.
constexpr double largestFactor = 1e30;

/// The number that is all of `text`; nothing for any other text.
std::optional<double> numberOf(const std::string &text) {
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<double> factorOf(const std::string &text) {
  const std::optional<double> value = numberOf(text);
  return value && *value >= 0 && *value <= largestFactor ? value : std::nullopt;
}

std::pair<double, double> readBetas(const std::string &text) {
  const std::size_t comma = text.find(',');
  const auto beta = [](const std::string &part) {
    const std::optional<double> value = numberOf(part);
    return value && *value >= 0 && *value < 1 ? value : std::nullopt;
  };
  const auto first = beta(text.substr(0, comma));
  const auto second = beta(comma == std::string::npos ? "" : text.substr(comma + 1));
  if (!first || !second)
    throw CLI::ValidationError(
        "--betas: expected two numbers from 0 to below 1, such as '0.9,0.999', got '" + text + "'");
  return {*first, *second};
}

/// Reads "GLOB:lr=X,weight-decay=Y".
OptimizerFlags::Group readGroup(const std::string &text) {
  const auto refuse = [&](const std::string &what) -> CLI::ValidationError {
    return CLI::ValidationError("--group: expected " + what + ", got '" + text + "'");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    throw refuse("'GLOB:lr=X,weight-decay=Y'");
  OptimizerFlags::Group group{text, text.substr(0, colon), {}, {}};
  std::istringstream list(text.substr(colon + 1));
  for (std::string item; std::getline(list, item, ',');) {
    const std::size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    if (key != "lr" && key != "weight-decay")
      throw refuse("lr=X or weight-decay=X behind the colon");
    std::optional<double> &value = key == "lr" ? group.rate : group.weightDecay;
    if (value)
      throw refuse(key + " once");
    value = factorOf(equals == std::string::npos ? "" : item.substr(equals + 1));
    if (!value)
      throw refuse("a number from 0 to 1e30 for " + key);
  }
  return group;
}

bool matches(const OptimizerFlags::Group &group, const std::string &name) {
  return fnmatch(group.glob.c_str(), name.c_str(), 0) == 0;
}

/// PyTorch's defaults; for LAMB those of its authors' training of BERT.
core::OptimizerOptions defaultsOf(OptimizerKind kind) {
  core::OptimizerOptions options{.kind = kind};
  if (kind != OptimizerKind::sgd)
    options.rate = 1e-3;
  if (kind == OptimizerKind::adamw || kind == OptimizerKind::lamb)
    options.weightDecay = 1e-2;
  if (kind == OptimizerKind::lamb)
    options.epsilon = 1e-6;
  return options;
}

} // namespace

void OptimizerFlags::addTo(CLI::App &app) {
  const char *group = "Optimizer (the plan's: 'compile --optimizer')";
  const CLI::Validator factor = launch::realNumber(0, largestFactor, "a number from 0 to 1e30");
  app.add_option("--lr", rate, "Set the learning rate (default 0.01 for sgd, else 0.001)")
      ->check(factor)
      ->group(group);
  app.add_option("--momentum", momentum, "Set the momentum of sgd (default 0)")
      ->check(factor)
      ->group(group);
  app.add_flag("--nesterov", nesterov, "Use Nesterov's momentum in sgd")->group(group);
  app.add_option_function<std::string>(
         "--betas", [this](const std::string &text) { betas = readBetas(text); },
         "Set how much of the moments stays, for adam, adamw and lamb (default 0.9,0.999)")
      ->type_name("B1,B2")
      ->group(group);
  app.add_option("--eps", epsilon,
                 "Add this to the second moment's root, for adam, adamw and lamb (default 1e-8; "
                 "1e-6 for lamb)")
      ->check(launch::realNumber(1e-30, 1, "a number from 1e-30 to 1"))
      ->group(group);
  app.add_option("--weight-decay", weightDecay,
                 "Apply this L2 penalty, or with adamw and lamb this decay of the weights, to all "
                 "parameters (default 0; 0.01 for adamw and lamb)")
      ->check(factor)
      ->group(group);
  const CLI::Validator limit = launch::realNumber(1e-30, 1e30, "a number from 1e-30 to 1e30");
  app.add_option("--clip-norm", clipNorm,
                 "Scale all mean gradients such that their norm is at most LIMIT, with a plan of "
                 "'compile --overlap backward' (default: that of 'compile --clip-norm', else no "
                 "limit)")
      ->check(limit)
      ->type_name("LIMIT")
      ->group(group);
  app.add_option("--clip-value", clipValue,
                 "Bring every element of the mean gradients into [-LIMIT, LIMIT], after "
                 "--clip-norm (default: no limit)")
      ->check(limit)
      ->type_name("LIMIT")
      ->group(group);
  app.add_option_function<std::string>(
         "--loss-scale",
         [this](const std::string &text) {
           const Result<LossScale> read = LossScale::parse(text);
           if (!read)
             throw CLI::ValidationError(read.status().message());
           lossScale = *read;
         },
         "Multiply the loss's gradient by N, so that small gradients survive '--wire fp16', divide "
         "gradients by N again, and skip steps whose gradients are not finite; dynamic: 65536 at "
         "first, half after a skipped step, double after 2000 others (default: no scale)")
      ->type_name("N|dynamic")
      ->group(group);
  app.add_option_function<std::vector<std::string>>(
         "--group",
         [this](const std::vector<std::string> &texts) {
           for (const std::string &text : texts)
             groups.push_back(readGroup(text));
         },
         "Give parameters that match this glob another rate, decay or both, such as "
         "'*.bias:weight-decay=0'; may be repeated, the last that matches counts")
      ->type_name("GLOB:lr=X,weight-decay=Y")
      ->allow_extra_args(false)
      ->group(group);
}

Status OptimizerFlags::check() const {
  if (nesterov && momentum.value_or(0) == 0)
    return Status::error(ErrorKind::badUsage, "--nesterov needs --momentum");
  return Status::ok();
}

Result<core::OptimizerOptions> OptimizerFlags::optionsFor(OptimizerKind kind) const {
  const bool isSgd = kind == OptimizerKind::sgd;
  for (const auto &[name, isGiven, isKnown] :
       {std::tuple("--momentum", momentum.has_value(), isSgd),
        {"--nesterov", nesterov, isSgd},
        {"--betas", betas.has_value(), !isSgd},
        {"--eps", epsilon.has_value(), !isSgd}})
    if (isGiven && !isKnown)
      return Status::error(ErrorKind::badUsage, std::string(name) + " is for '--optimizer " +
                                                    (isSgd ? "adam', 'adamw' or 'lamb" : "sgd") +
                                                    "', the plan is compiled for '" +
                                                    std::string(optimizerName(kind)) + "'");
  core::OptimizerOptions options = defaultsOf(kind);
  options.rate = rate.value_or(options.rate);
  options.momentum = momentum.value_or(options.momentum);
  options.weightDecay = weightDecay.value_or(options.weightDecay);
  options.nesterov = nesterov;
  options.epsilon = epsilon.value_or(options.epsilon);
  options.clipNorm = clipNorm.value_or(options.clipNorm);
  options.clipValue = clipValue.value_or(options.clipValue);
  if (betas)
    std::tie(options.beta1, options.beta2) = *betas;
  for (const Group &each : groups)
    if (each.rate && options.rate == 0)
      return Status::error(ErrorKind::badUsage, "--group '" + each.text +
                                                    "': its lr is relative to --lr, expected an "
                                                    "--lr above 0");
  return options;
}

Result<std::map<int, core::ParameterRule>>
OptimizerFlags::rules(std::span<const core::StepTensor> tensors,
                      const core::OptimizerOptions &options) const {
  std::map<int, core::ParameterRule> rules;
  for (const Group &group : groups) {
    bool isUsed = false;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].space == Space::parameters && matches(group, tensors[i].name)) {
        rules[static_cast<int>(i)] = {group.rate ? *group.rate / options.rate : 1,
                                      group.weightDecay};
        isUsed = true;
      }
    if (!isUsed)
      return Status::badInput("--group '" + group.text +
                              "': no trained parameter's name matches '" + group.glob + "'");
  }
  return rules;
}

std::string OptimizerFlags::text(const core::OptimizerOptions &options) const {
  std::ostringstream text;
  text.precision(17);
  text << "--lr " << options.rate;
  if (options.kind == OptimizerKind::sgd)
    text << " --momentum " << options.momentum;
  else
    text << " --betas " << options.beta1 << ',' << options.beta2 << " --eps " << options.epsilon;
  text << " --weight-decay " << options.weightDecay << (options.nesterov ? " --nesterov" : "");
  if (clipNorm)
    text << " --clip-norm " << *clipNorm;
  if (clipValue)
    text << " --clip-value " << *clipValue;
  if (lossScale)
    text << " --loss-scale " << lossScale->text();
  for (const Group &group : groups)
    text << " --group " << group.text;
  return text.str();
}

} // namespace syncline::run
