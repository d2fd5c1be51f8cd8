// Reads complete events of a trace, with the arguments that Syncline uses.
#include "frontend/files/ChromeTrace.h"

#include "frontend/files/TextFile.h"
#include "syncline/JsonDepth.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace syncline::files {
namespace {

using Json = nlohmann::json;

constexpr std::size_t maxFileBytes = std::size_t{1} << 30;
constexpr int maxDepth = 32; ///< shapes of lists of tensors nest in arguments
constexpr double microsecond = 1e-6;
constexpr double latest = 1e18; ///< microseconds

/// An error in an event; thrown inside this file only.
struct BadEvent {
  std::string message;
};

/// Text, or a number in its digits; empty where there is neither.
std::string textOf(const Json &object, const char *key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_structured())
    return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::optional<std::int64_t> numberOf(const Json &object, const char *key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer())
    return std::nullopt;
  return found->get<std::int64_t>();
}

/// The value as a short text for messages.
std::string shortText(const Json &value) {
  return value.is_structured() ? std::string(value.type_name()) : value.dump().substr(0, 60);
}

double seconds(const Json &object, const char *key, double least) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number())
    throw BadEvent{"expected '" + std::string(key) + "' in microseconds, got " +
                   (found == object.end() ? "none" : shortText(*found))};
  const auto value = found->get<double>();
  if (!(value >= least && value <= latest))
    throw BadEvent{"expected '" + std::string(key) + "' in microseconds, got " + shortText(*found)};
  return value * microsecond;
}

TraceEvent eventFrom(const Json &json) {
  TraceEvent event;
  event.name = textOf(json, "name");
  event.category = textOf(json, "cat");
  event.process = textOf(json, "pid");
  event.thread = textOf(json, "tid");
  event.rank = numberOf(json, "pid");
  event.begin = seconds(json, "ts", -latest);
  event.seconds = seconds(json, "dur", 0);
  const auto found = json.find("args");
  if (found == json.end() || !found->is_object())
    return event;
  event.layer = textOf(*found, "layer");
  event.phase = textOf(*found, "phase");
  event.scheme = textOf(*found, "scheme");
  event.step = numberOf(*found, "step");
  event.bucket = numberOf(*found, "bucket");
  event.bytes = numberOf(*found, "bytes");
  event.sequence = numberOf(*found, "Sequence number");
  event.external = numberOf(*found, "External id");
  if (found->contains("ready"))
    event.ready = seconds(*found, "ready", -latest);
  return event;
}

Status error(std::string_view fileName, const std::string &message) {
  return Status::badInput(std::string(fileName) + ": " + message);
}

void readHead(const Json &json, ChromeTrace &trace) {
  const auto other = json.find("otherData");
  if (other == json.end() || !other->is_object())
    return;
  trace.schema = textOf(*other, "schema");
  trace.plan = textOf(*other, "plan");
  trace.kind = textOf(*other, "kind");
  trace.name = textOf(*other, "name");
  trace.ranks = numberOf(*other, "ranks");
  trace.batch = numberOf(*other, "batch");
  if (other->contains("clock_error_us"))
    trace.clockError = seconds(*other, "clock_error_us", 0);
}

} // namespace

Result<ChromeTrace> parseChromeTrace(std::string_view text, std::string_view fileName) {
  if (Status s = checkJsonDepth(text, fileName, maxDepth); !s)
    return s;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const Json *events = json.is_array() ? &json : nullptr;
  if (json.is_object() && json.contains("traceEvents"))
    events = &json["traceEvents"];
  if (!events || !events->is_array())
    return error(fileName, json.is_discarded() ? "not valid JSON, as a trace is"
                                               : "expected a trace with 'traceEvents', got none");
  ChromeTrace trace;
  std::size_t number = 0;
  try {
    if (json.is_object())
      readHead(json, trace);
    for (const Json &event : *events) {
      ++number;
      if (event.is_object() && textOf(event, "ph") == "X")
        trace.events.push_back(eventFrom(event));
    }
  } catch (const BadEvent &bad) {
    return error(fileName, "event " + std::to_string(number) + ": " + bad.message);
  }
  std::ranges::stable_sort(trace.events, [](const TraceEvent &a, const TraceEvent &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.seconds > b.seconds;
  });
  return trace;
}

Result<ChromeTrace> readChromeTrace(const std::string &path) {
  Result<std::string> text = readTextFile(path, maxFileBytes);
  return text ? parseChromeTrace(*text, path) : Result<ChromeTrace>(text.status());
}

} // namespace syncline::files
