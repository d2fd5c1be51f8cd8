// Writes events one by one, since a trace may have millions.
#include "frontend/report/SimulationTrace.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace syncline::report {

using namespace simulate;
using nlohmann::json;

namespace {

class TraceWriter {
public:
  TraceWriter(const Scenario &scenario, const Simulation &simulation)
      : scenario(scenario), simulation(simulation) {}

  std::string write(const std::string &planHash) {
    text = "{\"displayTimeUnit\": \"ms\", \"otherData\": " +
           json{{"schema", "syncline-trace"}, {"plan", planHash}, {"kind", "simulated"}}.dump() +
           ",\n\"traceEvents\": [";
    addNames();
    for (int step = 0; step < simulation.steps; ++step)
      for (int rank = 0; rank < simulation.ranks; ++rank)
        addRank(step, rank);
    return text + "\n]}\n";
  }

private:
  void add(const json &event) {
    text += (isFirst ? "\n" : ",\n") + event.dump(-1, ' ', false, json::error_handler_t::replace);
    isFirst = false;
  }

  void addNames() {
    int channels = 0;
    for (const Message &message : scenario.messages)
      channels = std::max(channels, message.channel + 1);
    auto name = [&](const char *what, int rank, int thread, const std::string &value) {
      add({{"ph", "M"},
           {"name", what},
           {"pid", rank},
           {"tid", thread},
           {"args", {{"name", value}}}});
    };
    for (int rank = 0; rank < simulation.ranks; ++rank) {
      name("process_name", rank, 0, "rank " + std::to_string(rank));
      name("thread_name", rank, 0, "compute");
      for (int channel = 0; channel < channels; ++channel)
        name("thread_name", rank, 1 + channel, "channel " + std::to_string(channel));
    }
  }

  void addSpan(const std::string &name, const char *category, int rank, int thread, double start,
               double end, json args) {
    add({{"ph", "X"},
         {"name", name},
         {"cat", category},
         {"pid", rank},
         {"tid", thread},
         {"ts", start * 1e6},
         {"dur", (end - start) * 1e6},
         {"args", std::move(args)}});
  }

  /// One event of a bucket's flow: "s" at the operation that completes it, "t" at its message, "f"
  /// at its update (at the message where that updates the parameters, or where an earlier
  /// micro-batch adds up what it brings).
  void addFlow(const char *kind, int step, int message, int rank, int thread, double at) {
    json event{{"ph", kind},
               {"name", "bucket"},
               {"cat", "bucket"},
               {"id", step * static_cast<std::int64_t>(scenario.messages.size()) + message},
               {"pid", rank},
               {"tid", thread},
               {"ts", at * 1e6}};
    if (*kind == 'f')
      event["bp"] = "e";
    add(event);
  }

  /// Whether the message carries no bucket, but the loss or the norm of all gradients.
  bool isOfNumbers(int message) const {
    return message >= 0 && (message == scenario.loss || message == scenario.norm);
  }

  /// The number of the message, or of its first half.
  int flowOf(int message) const {
    const int first = scenario.messages[static_cast<std::size_t>(message)].firstHalf;
    return first < 0 ? message : first;
  }

  /// The number of the bucket that the message carries, in this micro-batch or an earlier one.
  int bucketOf(int message) const {
    const int bucket = scenario.messages[static_cast<std::size_t>(message)].inLastMicroBatch;
    return bucket < 0 ? flowOf(message) : bucket;
  }

  /// "bucket 3", "bucket 3 reduce-scatter", "bucket 3 all-gather", "loss" or "norm".
  std::string nameOf(int message) const {
    if (isOfNumbers(message))
      return scenario.messages[static_cast<std::size_t>(message)].name;
    const std::string bucket = "bucket " + std::to_string(bucketOf(message));
    switch (scenario.messages[static_cast<std::size_t>(message)].half) {
    case Half::whole:
      return bucket;
    case Half::first:
      return bucket + " reduce-scatter";
    case Half::second:
      return bucket + " all-gather";
    }
    return bucket;
  }

  /// `args` with the bucket's number, which the loss and the norm have not.
  json withBucket(json args, int message) const {
    if (!isOfNumbers(message))
      args["bucket"] = bucketOf(message);
    return args;
  }

  void addRank(int step, int rank) {
    double computed = 0; // start of the latest operation that takes time
    for (std::size_t i = 0; i < scenario.operations.size(); ++i) {
      const Operation &op = scenario.operations[i];
      const Span &span = simulation.operation(step, rank, i);
      switch (op.kind) {
      case Operation::Kind::compute:
        if (span.end > span.start)
          computed = span.start;
        addSpan(op.layer, "compute", rank, 0, span.start, span.end,
                {{"step", step}, {"layer", op.layer}, {"phase", phaseName(op.phase)}});
        break;
      case Operation::Kind::issue:
        if (!isOfNumbers(op.message) && flowOf(op.message) == op.message)
          addFlow("s", step, op.message, rank, 0, computed);
        addMessage(step, rank, op.message);
        break;
      case Operation::Kind::wait:
        if (span.end > span.start)
          addSpan(nameOf(op.message), "wait", rank, 0, span.start, span.end,
                  withBucket({{"step", step}, {"phase", phaseName(op.phase)}}, op.message));
        break;
      case Operation::Kind::square:
        addSpan(nameOf(op.message), "squares", rank, 0, span.start, span.end,
                {{"step", step}, {"phase", phaseName(op.phase)}, {"bucket", op.message}});
        break;
      case Operation::Kind::update:
        addSpan(nameOf(op.message), "update", rank, 0, span.start, span.end,
                {{"step", step}, {"phase", phaseName(op.phase)}, {"bucket", op.message}});
        addFlow("f", step, op.message, rank, 0, span.start);
        break;
      }
    }
  }

  void addMessage(int step, int rank, int message) {
    const Message &what = scenario.messages[static_cast<std::size_t>(message)];
    const MessageSpan &span = simulation.message(step, rank, static_cast<std::size_t>(message));
    json args = withBucket({{"step", step}}, message);
    args["scheme"] = schemeName(what.scheme);
    args["bytes"] = what.bytes;
    if (!isOfNumbers(message))
      args["members"] = what.name;
    addSpan(nameOf(message), "message", rank, 1 + what.channel, span.start, span.end,
            std::move(args));
    if (isOfNumbers(message))
      return;
    const bool updates = what.scheme == Scheme::reduceScatter && what.half != Half::first;
    const bool isLast = updates || what.inLastMicroBatch >= 0;
    addFlow(isLast ? "f" : "t", step, flowOf(message), rank, 1 + what.channel, span.start);
  }

  const Scenario &scenario;
  const Simulation &simulation;
  std::string text;
  bool isFirst = true;
};

} // namespace

std::string simulationTrace(const Scenario &scenario, const Simulation &simulation,
                            const std::string &planHash) {
  return TraceWriter(scenario, simulation).write(planHash);
}

} // namespace syncline::report
