// Finding the stretches of parameters that this rank updates, and their state.
#include "runtime/core/Optimizer.h"

#include <algorithm>

namespace syncline::core {

namespace {

/// Whether a parameter belongs to the bucket.
bool holds(const Bucket &bucket, const StepTensor &tensor) {
  return tensor.space == Space::parameters && tensor.offset >= bucket.offset &&
         tensor.offset < bucket.offset + bucket.extent;
}

bool isSharded(const Bucket &bucket) { return bucket.scheme == Scheme::reduceScatter; }

} // namespace

Status Optimizer::checkTypes() const {
  for (const OperationInfo &operation : table.operations) {
    if (operation.kind != OperationKind::update && operation.kind != OperationKind::issue)
      continue;
    const Bucket &bucket = *table.findBucket(operation.bucket);
    if (operation.kind == OperationKind::issue && !isSharded(bucket))
      continue;
    for (const StepTensor &tensor : table.tensors)
      if (holds(bucket, tensor) && tensor.type != ElementType::f32)
        return Status::badInput("update: parameter '" + tensor.name +
                                "': expected element type f32, got " +
                                std::string(elementName(tensor.type)));
  }
  return Status::ok();
}

Status Optimizer::takeShard(int bucket, std::int64_t begin, std::int64_t bytes) {
  const Bucket *whole = table.findBucket(bucket);
  if (!whole || !isSharded(*whole) || begin < 0 || bytes < 0 || begin + bytes > whole->extent ||
      begin % 4 != 0 || bytes % 4 != 0)
    return Status::error(ErrorKind::internal, "bucket " + std::to_string(bucket) +
                                                  " has no part of " + std::to_string(bytes) +
                                                  " bytes at " + std::to_string(begin));
  shards[bucket] = {whole->offset + begin, bytes};
  return allocate();
}

Status Optimizer::finish() {
  isFinished = true;
  placeRules();
  for (const Bucket &bucket : table.buckets) {
    made.emplace(bucket.id, 0);
    rates.emplace(bucket.id, options.rate);
  }
  return allocate();
}

Status Optimizer::setOptimizer(const OptimizerOptions &chosen) {
  options = chosen;
  for (auto &[bucket, rate] : rates)
    rate = options.rate;
  return allocate();
}

void Optimizer::setRate(int bucket, double rate) {
  if (const auto found = rates.find(bucket); found != rates.end())
    found->second = rate;
}

Status Optimizer::setUpdates(std::int64_t count) {
  for (auto &[bucket, updates] : made)
    updates = count;
  return Status::ok();
}

Status Optimizer::setRules(const std::map<int, ParameterRule> &rules) {
  for (const auto &[id, rule] : rules)
    if (!table.isDeclared({id}) || table.tensors[id].space != Space::parameters)
      return Status::error(ErrorKind::internal, "no parameter has number " + std::to_string(id));
  given = rules;
  placeRules();
  return Status::ok();
}

void Optimizer::placeRules() {
  std::map<std::int64_t, ParameterRule> found{{0, {}}};
  for (int id = 0; id < static_cast<int>(table.tensors.size()); ++id)
    if (table.tensors[id].space == Space::parameters) {
      const auto own = given.find(id);
      found[table.tensors[id].offset] = own == given.end() ? ParameterRule() : own->second;
    }
  parameters.clear();
  for (const auto &[begin, rule] : found)
    parameters.push_back({begin, rule});
}

std::size_t Optimizer::parameterAt(std::int64_t offset) const {
  const auto behind = std::ranges::upper_bound(parameters, offset, {}, &Parameter::begin);
  return static_cast<std::size_t>(behind - parameters.begin()) - 1;
}

std::size_t Optimizer::parametersOf(int bucket) const {
  const Bucket &of = *table.findBucket(bucket);
  return of.extent == 0 ? 0 : parameterAt(of.offset + of.extent - 1) - parameterAt(of.offset) + 1;
}

Result<std::vector<Optimizer::Update>> Optimizer::shardUpdates(int bucket) const {
  auto found = shards.find(bucket);
  if (found == shards.end())
    return Status::error(ErrorKind::internal,
                         "no part of bucket " + std::to_string(bucket) + " is this rank's");
  return updates(*table.findBucket(bucket), found->second.first, found->second.second);
}

std::vector<Optimizer::Update> Optimizer::updates(const Bucket &of, std::int64_t begin,
                                                  std::int64_t bytes) const {
  std::vector<Update> all;
  const Stretch *stretch = stretchOf(begin, bytes);
  const std::int64_t end = begin + bytes;
  const bool joinsNeighbours = !needsWholeParameters(options.kind);
  for (std::size_t i = parameterAt(begin); begin < end; ++i) {
    const ParameterRule &rule = parameters[i].rule;
    const std::int64_t until =
        i + 1 == parameters.size() ? end : std::min(end, parameters[i + 1].begin);
    if (joinsNeighbours && !all.empty() && rule == parameters[i - 1].rule) {
      all.back().bytes += until - begin;
    } else {
      Update &update = all.emplace_back(
          Update{begin, until - begin, i - parameterAt(of.offset), {}, options, rule.rateFactor});
      update.options.rate = rates.at(of.id) * rule.rateFactor;
      update.options.weightDecay = rule.weightDecay.value_or(options.weightDecay);
      for (int slot = 0; stretch && slot < options.slots(); ++slot)
        update.state[slot] = stretch->state[slot] + (begin - stretch->begin);
    }
    begin = until;
  }
  return all;
}

Status Optimizer::checkWhole() const {
  if (!needsWholeParameters(options.kind))
    return Status::ok();
  for (const Bucket &bucket : table.buckets)
    for (const StepTensor &tensor : table.tensors) {
      const std::int64_t dense = elementCount(tensor.shape) * elementBytes(tensor.type);
      const auto isInside = [&](std::int64_t place) {
        return place > tensor.offset && place < tensor.offset + dense;
      };
      if (tensor.space == Space::parameters &&
          (isInside(bucket.offset) || isInside(bucket.offset + bucket.extent)))
        return Status::badInput("bucket " + std::to_string(bucket.id) +
                                " carries a part of the gradient of '" + tensor.name + "', but '" +
                                std::string(optimizerName(options.kind)) +
                                "' needs norms of whole parameters; expected a plan of 'compile "
                                "--optimizer lamb', which cuts no gradient");
    }
  return Status::ok();
}

Status Optimizer::expectWhole(int bucket) const {
  const Bucket &of = *table.findBucket(bucket);
  const auto own = shards.find(bucket);
  if (!needsWholeParameters(options.kind) || own == shards.end() ||
      own->second == std::pair(of.offset, of.extent))
    return Status::ok();
  return Status::error(ErrorKind::internal, "bucket " + std::to_string(bucket) +
                                                " is updated without the other ranks' norms");
}

Status Optimizer::allocate() {
  if (!isFinished || options.slots() == 0)
    return Status::ok();
  SYNCLINE_TRY(checkWhole());
  if (!hasWholeBuckets)
    addWholeBuckets();
  for (const auto &[bucket, shard] : shards)
    if (!stretchOf(shard.first, shard.second))
      add(shard.first, shard.second);
  for (Stretch &stretch : stretches)
    for (int slot = 0; slot < options.slots(); ++slot)
      if (!stretch.state[slot] && !(stretch.state[slot] = allocateState(stretch.bytes)))
        return Status::badInput("not enough memory for the optimizer's state");
  return Status::ok();
}

void Optimizer::addWholeBuckets() {
  std::map<std::int64_t, std::int64_t> sharded; // extent by offset
  for (const Bucket &bucket : table.buckets)
    if (isSharded(bucket))
      sharded.emplace(bucket.offset, bucket.extent);
  sharded.emplace(table.spaceBytes(Space::parameters), 0);
  std::int64_t begin = 0;
  for (const auto &[offset, extent] : sharded) {
    add(begin, offset - begin);
    begin = offset + extent;
  }
  hasWholeBuckets = true;
}

void Optimizer::add(std::int64_t begin, std::int64_t bytes) {
  if (bytes > 0)
    stretches.push_back({begin, bytes});
}

const Optimizer::Stretch *Optimizer::stretchOf(std::int64_t begin, std::int64_t bytes) const {
  for (const Stretch &s : stretches)
    if (begin >= s.begin && bytes <= s.bytes && begin - s.begin <= s.bytes - bytes)
      return &s;
  return nullptr;
}

std::vector<StateInterval> Optimizer::stateIntervals() const {
  std::vector<StateInterval> all;
  for (const Stretch &s : stretches)
    for (int slot = 0; slot < options.slots(); ++slot)
      all.push_back({slot, s.begin, s.bytes});
  std::sort(all.begin(), all.end(), [](const StateInterval &a, const StateInterval &b) {
    return std::pair(a.slot, a.begin) < std::pair(b.slot, b.begin);
  });
  return all;
}

Result<std::byte *> Optimizer::stateOf(const StateInterval &interval, std::size_t size) const {
  if (static_cast<std::int64_t>(size) != interval.bytes)
    return Status::badInput("expected " + std::to_string(interval.bytes) + " bytes, got " +
                            std::to_string(size));
  const Stretch *stretch = stretchOf(interval.begin, interval.bytes);
  if (!stretch || interval.slot < 0 || interval.slot >= options.slots())
    return Status::badInput("expected state that this rank holds, got " +
                            std::to_string(interval.bytes) + " bytes at " +
                            std::to_string(interval.begin) + " of slot " +
                            std::to_string(interval.slot));
  return stretch->state[interval.slot] + (interval.begin - stretch->begin);
}

Result<std::byte *> Optimizer::velocityOf(int parameter) const {
  if (!table.isDeclared({parameter}) || options.slots() == 0 ||
      table.tensors[parameter].space != Space::parameters)
    return Status::badInput("expected a parameter and an optimizer with state");
  const StepTensor &info = table.tensors[parameter];
  for (const Bucket &bucket : table.buckets)
    if (isSharded(bucket) && holds(bucket, info) && ranks > 1)
      return Status::badInput("parameter '" + info.name +
                              "': its state is spread over the ranks, for bucket " +
                              std::to_string(bucket.id) + " travels by '" +
                              std::string(schemeName(bucket.scheme)) + "'");
  return stateOf({0, info.offset, info.reserved}, static_cast<std::size_t>(info.reserved));
}

std::int64_t Optimizer::bytes() const {
  std::int64_t sum = 0;
  for (const Stretch &s : stretches)
    sum += s.bytes *
           static_cast<std::int64_t>(2 - std::count(s.state.begin(), s.state.end(), nullptr));
  return sum;
}

} // namespace syncline::core
