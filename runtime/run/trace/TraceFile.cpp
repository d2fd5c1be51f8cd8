// Writing events in the trace event format.
#include "runtime/run/trace/TraceFile.h"

#include "runtime/run/trace/TraceEvents.h"

#include <algorithm>
#include <map>

namespace syncline::run {

using core::OperationKind;

namespace {

using Json = TraceEvents::Json;

class TraceWriter {
public:
  TraceWriter(const Plan &plan, const core::StepRunner &runner, const Trace &trace)
      : plan(plan), operations(runner.operations()), trace(trace),
        ranks(static_cast<int>(trace.ranks.size())) {
    for (const PlanBucket &bucket : plan.buckets)
      bucketById[bucket.id] = &bucket;
  }

  std::string text() {
    for (rank = 0; rank < ranks; ++rank) {
      nameThreads();
      for (const TracedStep &step : trace.ranks[static_cast<std::size_t>(rank)])
        addStep(step);
    }
    addServers(plan, trace.servers, events);
    Json other{{"schema", "syncline-trace"},
               {"plan", plan.hash},
               {"kind", "measured"},
               {"name", plan.name},
               {"ranks", ranks},
               {"batch", plan.batch},
               {"clock_error_us", microseconds(trace.clockError)}};
    return "{\"traceEvents\": [\n" + events.text() +
           "\n], \"displayTimeUnit\": \"ms\", \"otherData\": " + other.dump() + "}\n";
  }

private:
  static double microseconds(double seconds) { return TraceEvents::microseconds(seconds); }

  /// When the first step, request or service began.
  static double beginOf(const Trace &trace) {
    double first = firstService(trace.servers);
    for (const auto &steps : trace.ranks)
      for (const TracedStep &step : steps) {
        first = std::min(first, step.start);
        for (const StepRecord::Request &request : step.requests)
          first = std::min(first, step.start + request.whole.begin);
      }
    return first;
  }

  void name(const char *what, int thread, const std::string &text) {
    events.name(what, {rank, thread}, text);
  }

  void nameThreads() {
    name("process_name", 0, "rank " + std::to_string(rank));
    name("thread_name", 0, "compute");
    std::map<int, bool> named;
    for (const PlanBucket &bucket : plan.buckets)
      if (!std::exchange(named[bucket.channel], true))
        name("thread_name", 1 + bucket.channel, "channel " + std::to_string(bucket.channel));
    if (plan.consistency.isServed()) {
      name("thread_name", valueThread(), "values");
      name("thread_name", tickThread(), "ticks");
    } else if (plan.consistency.isLocal()) {
      name("thread_name", fragmentThread(), "weights");
    }
  }

  static const char *category(OperationKind kind) {
    switch (kind) {
    case OperationKind::compute:
    case OperationKind::gather:
      return "compute";
    case OperationKind::wait:
      return "wait";
    case OperationKind::update:
      return "update";
    case OperationKind::issue:
    case OperationKind::allGather:
      return nullptr;
    }
    return nullptr;
  }

  void complete(const char *category, const std::string &called, int thread, double begin,
                double end, Json args) {
    events.complete(category, called, {rank, thread}, begin, end, std::move(args));
  }

  void flow(const char *phase, const TracedStep &step, int bucket, int thread, double at) {
    const auto buckets = static_cast<std::int64_t>(plan.buckets.size());
    Json event{{"ph", phase},
               {"cat", "bucket"},
               {"name", "bucket " + std::to_string(bucket)},
               {"id", (step.step * buckets + bucket) * ranks + rank},
               {"pid", rank},
               {"tid", thread},
               {"ts", events.since(at)}};
    if (*phase == 'f')
      event["bp"] = "e";
    events.add(event);
  }

  void addStep(const TracedStep &step) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const core::OperationInfo &op = operations[i];
      const char *cat = category(op.kind);
      if (!cat)
        continue;
      Json args{{"step", step.step}, {"phase", op.phase}};
      if (!op.layer.empty())
        args["layer"] = op.layer;
      if (op.bucket >= 0)
        args["bucket"] = op.bucket;
      if (const auto b = bucketById.find(op.bucket);
          op.kind == OperationKind::update && b != bucketById.end())
        args["bytes"] = b->second->extent;
      const StepRecord::Span &span = step.operations[i];
      complete(cat, op.name, 0, step.start + span.begin, step.start + span.end, std::move(args));
    }
    for (const core::BucketTiming &timing : step.buckets)
      for (const TracedStep &issuing : trace.ranks[static_cast<std::size_t>(rank)])
        if (issuing.step == timing.step) {
          if (timing.bucket < core::lossMessage)
            addFragment(issuing, core::fragmentMessage(0) - timing.bucket, timing);
          else
            addMessage(issuing, step, timing);
        }
    for (const StepRecord::Request &request : step.requests)
      addRequest(step, request);
  }

  /// Weights travel on a channel behind those of the buckets.
  int fragmentThread() const {
    int last = 0;
    for (const PlanBucket &bucket : plan.buckets)
      last = std::max(last, bucket.channel);
    return 2 + last;
  }
  int valueThread() const { return fragmentThread(); }
  int tickThread() const { return fragmentThread() + 1; }

  /// Adds what the rank asked of servers, and inside it the time for which they held it back.
  void addRequest(const TracedStep &step, const StepRecord::Request &request) {
    using Kind = core::ServerRequest::Kind;
    const bool isTick = request.kind == Kind::tick || request.kind == Kind::grant;
    const int thread = isTick ? tickThread() : valueThread();
    Json args{{"step", step.step}, {"clock", request.clock}};
    if (request.kind == Kind::read || request.kind == Kind::grant)
      args["held_us"] = microseconds(request.held.seconds());
    complete("message", requestName(request.kind), thread, step.start + request.whole.begin,
             step.start + request.whole.end, args);
    if (request.held.seconds() > 0)
      complete("message", isTick ? "held back" : "parked", thread, step.start + request.held.begin,
               step.start + request.held.end, args);
  }

  static const char *requestName(core::ServerRequest::Kind kind) {
    switch (kind) {
    case core::ServerRequest::Kind::push:
      return "push";
    case core::ServerRequest::Kind::read:
      return "read";
    case core::ServerRequest::Kind::elastic:
      return "elastic";
    case core::ServerRequest::Kind::tick:
      return "tick";
    case core::ServerRequest::Kind::grant:
      return "grant";
    }
    return "";
  }

  /// Adds a message of weights, which no operation of a step waits for.
  void addFragment(const TracedStep &step, int id, const core::BucketTiming &timing) {
    for (const PlanExchange &exchange : plan.consistency.exchanges)
      if (exchange.id == id)
        complete("message", fragmentName(id, timing.half), fragmentThread(),
                 step.start + timing.started, step.start + timing.finished,
                 {{"step", step.step},
                  {"fragment", id},
                  {"scheme", schemeName(exchange.scheme)},
                  {"ready", events.since(step.start + timing.issued)}});
  }

  /// Adds a message that `step` issued and `waiting`, the same step or the next one, waited for.
  void addMessage(const TracedStep &step, const TracedStep &waiting,
                  const core::BucketTiming &timing) {
    const auto found = bucketById.find(timing.bucket);
    if (found == bucketById.end())
      return;
    const PlanBucket &bucket = *found->second;
    const int thread = 1 + bucket.channel;
    complete("message", messageName(timing), thread, step.start + timing.started,
             step.start + timing.finished,
             {{"step", step.step},
              {"bucket", bucket.id},
              {"scheme", schemeName(bucket.scheme)},
              {"ready", events.since(step.start + timing.issued)}});
    const auto middle = [](const TracedStep &of, std::size_t i) {
      return of.start + (of.operations[i].begin + of.operations[i].end) / 2;
    };
    const std::size_t from = completing(bucket.id), to = consuming(bucket.id);
    if (from == operations.size() || to == operations.size())
      return;
    if (to < from && step.step == waiting.step)
      return; // a drain has waited for it, by no operation of the step
    if (timing.half != core::Half::second)
      flow("s", step, bucket.id, 0, middle(step, from));
    flow("t", step, bucket.id, thread, step.start + (timing.started + timing.finished) / 2);
    if (timing.half != core::Half::first)
      flow("f", step, bucket.id, 0, middle(waiting, to));
  }

  static std::string fragmentName(int id, core::Half half) {
    const std::string fragment = "fragment " + std::to_string(id);
    switch (half) {
    case core::Half::whole:
      return fragment;
    case core::Half::first:
      return fragment + " reduce";
    case core::Half::second:
      return fragment + " broadcast";
    }
    return fragment;
  }

  static std::string messageName(const core::BucketTiming &timing) {
    const std::string bucket = "bucket " + std::to_string(timing.bucket);
    switch (timing.half) {
    case core::Half::whole:
      return bucket;
    case core::Half::first:
      return bucket + " reduce-scatter";
    case core::Half::second:
      return bucket + " all-gather";
    }
    return bucket;
  }

  /// The index of the operation before the bucket's issue, or the number of operations if there
  /// is none.
  std::size_t completing(int bucket) const {
    std::size_t last = operations.size();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const core::OperationInfo &op = operations[i];
      if (op.kind == OperationKind::compute)
        last = i;
      if (op.bucket == bucket && op.kind == OperationKind::gather)
        return i;
      if (op.bucket == bucket && op.kind == OperationKind::issue)
        return last;
    }
    return operations.size();
  }

  /// The index of the bucket's update, or of its wait if it has no update.
  std::size_t consuming(int bucket) const {
    std::size_t found = operations.size();
    for (std::size_t i = 0; i < operations.size(); ++i)
      if (operations[i].bucket == bucket && (operations[i].kind == OperationKind::update ||
                                             operations[i].kind == OperationKind::wait))
        found = i;
    return found;
  }

  const Plan &plan;
  const std::span<const core::OperationInfo> operations;
  const Trace &trace;
  const int ranks;
  std::map<int, const PlanBucket *> bucketById;
  TraceEvents events{beginOf(trace)};
  int rank = 0; ///< the rank whose events are written
};

/// A packed record: step, start, number of buckets and number of requests, then the operations'
/// numbers, the buckets' numbers and the requests' numbers.
constexpr std::size_t kHead = 4, kSpan = 2, kBucket = 6, kRequest = 6;

} // namespace

std::vector<double> packRecords(std::span<const StepRecord> records) {
  std::vector<double> numbers;
  for (const StepRecord &record : records) {
    numbers.insert(numbers.end(), {static_cast<double>(record.step), clockSeconds(record.start),
                                   static_cast<double>(record.buckets.size()),
                                   static_cast<double>(record.requests.size())});
    for (const StepRecord::Span &span : record.operations)
      numbers.insert(numbers.end(), {span.begin, span.end});
    for (const core::BucketTiming &b : record.buckets)
      numbers.insert(numbers.end(), {static_cast<double>(b.bucket), b.issued, b.started, b.finished,
                                     static_cast<double>(b.step), static_cast<double>(b.half)});
    for (const StepRecord::Request &r : record.requests)
      numbers.insert(numbers.end(), {static_cast<double>(r.kind), static_cast<double>(r.clock),
                                     r.whole.begin, r.whole.end, r.held.begin, r.held.end});
  }
  return numbers;
}

Result<std::vector<TracedStep>> unpackRecords(std::span<const double> numbers,
                                              std::size_t operations) {
  const Status malformed = Status::error(ErrorKind::internal, "a rank sent a malformed record");
  std::vector<TracedStep> steps;
  while (!numbers.empty()) {
    if (numbers.size() < kHead + kSpan * operations)
      return malformed;
    TracedStep &step = steps.emplace_back();
    step.step = static_cast<std::int64_t>(numbers[0]);
    step.start = numbers[1];
    const auto buckets = static_cast<std::size_t>(numbers[2]),
               requests = static_cast<std::size_t>(numbers[3]);
    numbers = numbers.subspan(kHead);
    for (std::size_t i = 0; i < operations; ++i)
      step.operations.push_back({numbers[kSpan * i], numbers[kSpan * i + 1]});
    numbers = numbers.subspan(kSpan * operations);
    if (numbers.size() / kBucket < buckets)
      return malformed;
    for (; step.buckets.size() < buckets; numbers = numbers.subspan(kBucket))
      step.buckets.push_back({static_cast<int>(numbers[0]), numbers[1], numbers[2], numbers[3],
                              static_cast<std::int64_t>(numbers[4]),
                              static_cast<core::Half>(static_cast<int>(numbers[5]))});
    if (numbers.size() / kRequest < requests)
      return malformed;
    for (; step.requests.size() < requests; numbers = numbers.subspan(kRequest))
      step.requests.push_back({static_cast<core::ServerRequest::Kind>(static_cast<int>(numbers[0])),
                               static_cast<std::int64_t>(numbers[1]),
                               {numbers[2], numbers[3]},
                               {numbers[4], numbers[5]}});
  }
  return steps;
}

Result<Trace> alignTrace(const std::vector<std::vector<double>> &collected,
                         std::span<const ClockOffset> before, std::span<const ClockOffset> after,
                         std::size_t operations) {
  Trace trace;
  const std::size_t count = std::min(before.size(), after.size());
  for (std::size_t rank = 0; rank < count; ++rank)
    trace.clockError = std::max({trace.clockError, before[rank].error, after[rank].error});
  for (std::size_t rank = 0; rank < collected.size(); ++rank) {
    SYNCLINE_TRY_GET(steps, unpackRecords(collected[rank], operations));
    for (TracedStep &step : *steps)
      step.start -= offsetAt(before[rank], after[rank], step.start);
    trace.ranks.push_back(std::move(*steps));
  }
  return trace;
}

std::string traceText(const Plan &plan, const core::StepRunner &runner, const Trace &trace) {
  return TraceWriter(plan, runner, trace).text();
}

} // namespace syncline::run
