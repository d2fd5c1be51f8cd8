// The training step's loop over operations.
#include "runtime/run/Trainer.h"

#include <algorithm>
#include <set>

namespace syncline {

Result<std::unique_ptr<Trainer>> Trainer::create(Executable &executable, Transport *transport,
                                                 int ranks, const RankLayout &layout) {
  std::unique_ptr<Trainer> trainer(new Trainer(executable, ranks));
  for (const Bucket &b : executable.buckets())
    if (Status s = checkScheme(b.scheme); !s)
      return Status::badInput("bucket " + std::to_string(b.id) + ": " + s.message());
  if (ranks > 1)
    if (Status s = trainer->openChannels(*transport, layout); !s)
      return s;
  if (Status s = trainer->findBuckets(); !s)
    return s;
  return trainer;
}

/// A channel a number, with the schemes of its buckets in the order of their first use.
Status Trainer::openChannels(Transport &transport, const RankLayout &layout) {
  std::map<int, std::vector<std::string>> schemes;
  for (const Bucket &b : executable.buckets()) {
    std::vector<std::string> &used = schemes[b.channel];
    if (std::find(used.begin(), used.end(), b.scheme) == used.end())
      used.push_back(b.scheme);
  }
  if (schemes[0].empty())
    schemes[0] = {"ring"}; // the loss needs a channel even when nothing is trained
  for (const auto &[id, used] : schemes) {
    auto channel = CommunicationThread::create(transport, id, used, layout);
    if (!channel)
      return channel.status();
    channels[id] = std::move(*channel);
  }
  return Status::ok();
}

/// Where each bucket lies, and which type its members have.
Status Trainer::findBuckets() {
  Interval gradients = executable.space(Space::gradients);
  for (const Bucket &b : executable.buckets()) {
    std::set<ElementType> types;
    for (const StepTensor &t : executable.tensors())
      if (t.space == Space::gradients && t.offset >= b.offset && t.offset < b.offset + b.extent)
        types.insert(t.type);
    if (types.size() > 1)
      return Status::badInput("bucket " + std::to_string(b.id) +
                              " mixes gradients of different element types");
    places[b.id] = {ranks > 1 ? channels.at(b.channel).get() : nullptr,
                    static_cast<std::byte *>(gradients.data) + b.offset,
                    static_cast<std::size_t>(b.extent),
                    types.empty() ? ElementType::f32 : *types.begin(), b.scheme};
  }
  return Status::ok();
}

Status Trainer::runOperation(std::size_t index) {
  const OperationInfo &op = executable.operations()[index];
  switch (op.kind) {
  case OperationKind::compute:
  case OperationKind::update:
    return executable.run(static_cast<int>(index));
  case OperationKind::issue: {
    if (ranks == 1)
      return Status::ok();
    if (Status s = executable.synchronize(); !s)
      return s;
    const BucketPlace &b = places.at(op.bucket);
    b.channel->issue(op.bucket, b.data, b.bytes, b.type, b.scheme);
    return Status::ok();
  }
  case OperationKind::gather:
    return Status::error(ErrorKind::internal, "unexpected gather");
  case OperationKind::wait:
    return ranks == 1 ? Status::ok() : places.at(op.bucket).channel->wait(op.bucket);
  }
  return Status::ok();
}

Result<StepTimes> Trainer::step(std::int64_t number) {
  auto start = Clock::now();
  for (auto &[id, channel] : channels)
    channel->startStep(number);
  executable.beginStep(number);
  for (std::size_t i = 0; i < executable.operations().size(); ++i) {
    auto before = Clock::now();
    if (Status s = runOperation(i); !s)
      return s;
    if (!operationSeconds.empty())
      operationSeconds[i].push_back(secondsSince(before));
  }
  if (Status s = executable.synchronize(); !s)
    return s;
  StepTimes times;
  for (auto &[id, channel] : channels)
    times.exposed += channel->exposedSeconds();
  // The loss of the step before had the whole step to arrive.
  if (lossStep >= 0)
    if (Result<double> earlier = finishLoss(); !earlier)
      return earlier.status();
  lossSum = executable.loss();
  lossStep = number;
  if (ranks > 1)
    channels.at(0)->issue(lossBucket, &lossSum, sizeof lossSum, ElementType::f64);
  times.seconds = secondsSince(start);
  return times;
}

Result<double> Trainer::finishLoss() {
  if (ranks > 1)
    if (Status s = channels.at(0)->wait(lossBucket); !s)
      return s;
  done.push_back({lossStep, lossSum / ranks});
  lossStep = -1;
  return done.back().loss;
}

Status Trainer::forward(std::int64_t number) {
  executable.beginStep(number);
  for (std::size_t i = 0; i < executable.operations().size(); ++i)
    if (executable.operations()[i].phase == "forward")
      if (Status s = executable.run(static_cast<int>(i)); !s)
        return s;
  return executable.synchronize();
}

std::vector<BucketTiming> Trainer::bucketTimings() const {
  std::vector<BucketTiming> all;
  for (const auto &[id, channel] : channels)
    for (const BucketTiming &t : channel->timings())
      if (t.bucket >= 0)
        all.push_back(t);
  return all;
}

} // namespace syncline
