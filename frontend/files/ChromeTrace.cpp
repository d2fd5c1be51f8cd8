// Reads complete events of a trace, with the arguments that Syncline uses.
#include "frontend/files/ChromeTrace.h"

#include "frontend/files/GzipFile.h"
#include "frontend/files/TraceText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace syncline::files {
namespace {

using Json = nlohmann::json;

constexpr std::size_t mostEvents = std::size_t{1} << 24;
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

/// `text` with null for the numbers that JSON has not, as PyTorch writes them.
std::string withoutNan(const std::string &text) {
  static constexpr std::string_view words[] = {"-Infinity", "Infinity", "NaN"};
  std::string result;
  bool inText = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto word = std::ranges::find_if(words, [&](std::string_view w) {
      return !inText && std::string_view(text).substr(i).starts_with(w);
    });
    if (word != std::end(words)) {
      result += "null";
      i += word->size() - 1;
      continue;
    }
    if (inText && text[i] == '\\' && i + 1 < text.size())
      result += text[i++];
    else if (text[i] == '"')
      inText = !inText;
    result += text[i];
  }
  return result;
}

/// Takes events as they come.
class TraceReader {
public:
  Status add(const std::string &text, const EventPlace &place) {
    const Json event = parsed(text);
    if (event.is_discarded())
      return leaveOut(place, "not valid JSON");
    if (!event.is_object() || textOf(event, "ph") != "X")
      return Status::ok();
    if (trace.events.size() == mostEvents)
      return Status::badInput("expected at most " + std::to_string(mostEvents) +
                              " complete events, got more");
    try {
      trace.events.push_back(eventFrom(event));
    } catch (const BadEvent &bad) {
      return leaveOut(place, bad.message);
    }
    return Status::ok();
  }

  Status readHead(const std::string &text) {
    const Json other = parsed(text);
    if (!other.is_object())
      return Status::ok();
    trace.schema = textOf(other, "schema");
    trace.plan = textOf(other, "plan");
    trace.kind = textOf(other, "kind");
    trace.name = textOf(other, "name");
    trace.ranks = numberOf(other, "ranks");
    trace.batch = numberOf(other, "batch");
    try {
      if (other.contains("clock_error_us"))
        trace.clockError = seconds(other, "clock_error_us", 0);
    } catch (const BadEvent &bad) {
      return Status::badInput("'otherData': " + bad.message);
    }
    return Status::ok();
  }

  Result<ChromeTrace> finish() {
    if (broken > 0 && trace.events.empty())
      return Status::badInput(why);
    if (broken > 0)
      trace.leftOut = std::to_string(broken) + " of " +
                      std::to_string(trace.events.size() + broken) +
                      " complete events are broken and left out, the first: " + why;
    std::ranges::stable_sort(trace.events, [](const TraceEvent &a, const TraceEvent &b) {
      return a.begin != b.begin ? a.begin < b.begin : a.seconds > b.seconds;
    });
    return std::move(trace);
  }

private:
  static Json parsed(const std::string &text) {
    const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    return json.is_discarded() ? Json::parse(withoutNan(text), nullptr, false) : json;
  }

  Status leaveOut(const EventPlace &place, const std::string &reason) {
    if (broken++ == 0)
      why = "event " + std::to_string(place.number) + " at byte " + std::to_string(place.byte) +
            ": " + reason;
    return Status::ok();
  }

  ChromeTrace trace;
  std::size_t broken = 0;
  std::string why; ///< the first one is
};

} // namespace

static Result<ChromeTrace> parse(std::istream &in, const std::string &fileName) {
  TraceReader reader;
  const TraceParts parts{
      [&](const std::string &text, const EventPlace &place) { return reader.add(text, place); },
      [&](const std::string &text) { return reader.readHead(text); }};
  SYNCLINE_TRY(cutTrace(in, fileName, maxDepth, parts));
  Result<ChromeTrace> trace = reader.finish();
  return trace ? std::move(trace) : error(fileName, trace.status().message());
}

Result<ChromeTrace> parseChromeTrace(const std::string &text, const std::string &fileName) {
  std::istringstream in(text);
  return parse(in, fileName);
}

Result<ChromeTrace> readChromeTrace(const std::string &path) {
  GzipFile file;
  SYNCLINE_TRY(file.open(path));
  std::istream in(&file);
  Result<ChromeTrace> trace = parse(in, path);
  return file.status() ? std::move(trace) : file.status();
}

} // namespace syncline::files
