// Says which times were measured, and which come from a data sheet.
#include "frontend/report/Provenance.h"

#include "frontend/files/DeviceTable.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace syncline::report {

namespace {

std::string fourDigits(double value) { return files::formatNumber(value, 4); }

/// "15.7 TFLOP/s, 900 GB/s": as the file has them, of which kernels reach `efficiency`.
std::string ratesOf(const nlohmann::json &device, double efficiency) {
  std::string text;
  if (device.at("compute").is_number())
    text = files::formatComputeRate(device.at("compute").get<double>() / efficiency);
  if (device.at("memory").is_number())
    text += (text.empty() ? "" : ", ") +
            files::formatByteRate(device.at("memory").get<double>() / efficiency);
  return text;
}

/// " (off by at most 13 % in half of 40 published runs, by 40 % in nine of ten)".
std::string doubtText(const std::optional<files::Doubt> &doubt) {
  if (!doubt)
    return " (compared with no published run)";
  const std::string median = fourDigits(std::round(100 * doubt->median)) + " % in ";
  if (doubt->isRange())
    return " (off by at most " + median + "half of " +
           files::counted(doubt->runs, "published run") + ", by " +
           fourDigits(std::round(100 * doubt->ninth)) + " % in nine of ten)";
  return " (off by " +
         (doubt->runs == 1
              ? median + "the only published run"
              : "at most " + median + "half of " + files::counted(doubt->runs, "published run")) +
         ", too few for a range of the step)";
}

/// "predicted by kernels of v100, like 'pytorch' (off by at most 13 % in half of 40 published
/// runs, by 40 % in nine of ten); ..".
std::string byKernels(const nlohmann::json &provenance, const std::string &like) {
  const std::string kind = provenance.at("device");
  const double efficiency = provenance.at("efficiency");
  std::string text = "predicted by kernels of " + printable(kind) + ", like '" + like + "'";
  if (efficiency < 1)
    text += ", at " + fourDigits(100 * efficiency) + " % of its rates";
  return text + doubtText(files::doubtOf(kind, like)) + "; --profile has this machine's";
}

/// Whether the cluster's rates are those of the table for its kind of device, and no others that
/// the cluster file states.
bool hasRatesOfKind(const nlohmann::json &device, const std::string &name, double efficiency) {
  const files::DeviceKind *kind = files::findDeviceKind(name);
  if (!kind || !device.at("compute").is_number() || !device.at("memory").is_number())
    return true;
  const auto agree = [](double a, double b) { return std::abs(a - b) <= 1e-6 * b; };
  const double compute = device.at("compute").get<double>() / efficiency;
  return agree(device.at("memory").get<double>() / efficiency, kind->bandwidth) &&
         std::ranges::any_of(kind->peaks,
                             [&](const auto &peak) { return agree(compute, peak.second); });
}

/// "estimated from the data sheet's peak (v100: 15.7 TFLOP/s, 900 GB/s), which kernels ..". The
/// kinds of processors have typical rates, no data sheet's.
std::string estimate(const nlohmann::json &provenance, const nlohmann::json &cluster) {
  const double efficiency = provenance.at("efficiency");
  const bool isKind = provenance.at("device").is_string();
  const nlohmann::json like = cluster.at("device").value("like", nlohmann::json());
  if (isKind && like.is_string())
    return byKernels(provenance, like);
  const bool isOwn =
      !isKind || !hasRatesOfKind(cluster.at("device"), provenance.at("device"), efficiency);
  const bool isSheet = isKind && !provenance.at("device").get<std::string>().starts_with("cpu");
  std::string text = "estimated from ";
  if (efficiency < 1)
    text += fourDigits(100 * efficiency) + " % of ";
  text += isOwn     ? "the cluster file's rates"
          : isSheet ? "the data sheet's peak"
                    : "a usual processor's rates";
  if (const std::string rates = ratesOf(cluster.at("device"), efficiency); !rates.empty())
    text += " (" + (isKind ? printable(provenance.at("device")) + ": " : "") + rates + ")";
  if (isSheet && !isOwn && efficiency == 1)
    text += "; real kernels reach less: --profile, or device.efficiency";
  if (isKind && !isSheet)
    text += "; --profile has this machine's";
  return text;
}

std::string compute(const nlohmann::json &provenance, const nlohmann::json &cluster) {
  const std::string times = provenance.at("times");
  if (times == "trace")
    return "as the layer trace says";
  if (times != "profile")
    return estimate(provenance, cluster);
  const std::int64_t measured = provenance.at("measured"), all = provenance.at("operations");
  std::string text = "profile";
  if (provenance.at("profile").is_string())
    text += " " + printable(provenance.at("profile"));
  if (all == 0) // a model that is planned without its step
    return text;
  text += ", " + std::to_string(measured) + " of " + std::to_string(all) + " operations";
  if (provenance.contains("threads"))
    text += ", by " + files::counted(provenance.at("threads"), "thread") + " a rank";
  return measured < all ? text + "; the others " + estimate(provenance, cluster) : text;
}

/// The schemes whose times the cluster file states as measured: lines or tables.
std::string measuredSchemes(const nlohmann::json &cluster) {
  std::string names;
  for (const nlohmann::json &stated : cluster.at("collectives"))
    if (stated.at("cost").at("kind") != "formula")
      names += (names.empty() ? "" : ", ") + printable(stated.at("scheme"));
  return names;
}

/// Where the times of messages come from that the cluster file does not state.
std::string linkRates(const nlohmann::json &cluster) {
  const auto byProtocols = [&](const char *key) {
    const nlohmann::json &link = cluster.at(key); // null without a network of that kind
    return !link.is_null() && link.at("protocols").get<bool>();
  };
  return byProtocols("link") || byProtocols("inside")
             ? "estimated from published NCCL all-reduces on such links, or from typical values "
               "where "
               "none is published; 'syncline calibrate' measures this cluster"
             : "nominal, by the cluster file's bandwidth and latency";
}

} // namespace

std::string provenanceText(const nlohmann::json &provenance, const nlohmann::json &cluster) {
  if (provenance.is_null())
    return "";
  const std::string measured = measuredSchemes(cluster);
  return "compute: " + compute(provenance, cluster) + "\nlinks: " +
         (measured.empty() ? linkRates(cluster)
                           : "calibrated, the cluster file states the times of " + measured) +
         "\n";
}

std::string slowNodesText(const nlohmann::json &cluster) {
  std::string text;
  for (const nlohmann::json &change : cluster.at("overrides")) {
    const double slowdown = change.at("slowdown");
    if (slowdown <= 1)
      continue;
    const auto nodes = change.at("nodes").get<std::vector<std::int64_t>>();
    for (std::size_t i = 0; i < nodes.size() && i < 4; ++i)
      text += (i == 0 ? (nodes.size() == 1 ? "node " : "nodes ") : ", ") + std::to_string(nodes[i]);
    text += nodes.size() > 4 ? " .. (" + std::to_string(nodes.size()) + ")" : "";
    text += std::string(nodes.size() == 1 ? " computes " : " compute ") + fourDigits(slowdown) +
            " times as long (overrides of the cluster file): every step waits for " +
            (nodes.size() == 1 ? "it\n" : "them\n");
  }
  return text;
}

} // namespace syncline::report
