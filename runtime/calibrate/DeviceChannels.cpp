// Bursts of messages between marks.
#include "runtime/calibrate/DeviceChannels.h"

#include "runtime/calibrate/TunerFolder.h"

#include <algorithm>
#include <array>

namespace syncline::calibrate {
namespace {

constexpr int generalChannel = 0, treeChannel = 1, secondChannel = 2, channelCount = 3;
constexpr std::array known{Scheme::ring, Scheme::tree, Scheme::parameterServer,
                           Scheme::reduceScatter, Scheme::factors};

int channelOf(Scheme scheme) { return scheme == Scheme::tree ? treeChannel : generalChannel; }

/// By channel; the ring is always there, for messages beside computation.
std::array<std::vector<Scheme>, channelCount> schemesOf(const ChannelWishes &wishes) {
  std::array<std::vector<Scheme>, channelCount> all;
  all[generalChannel].push_back(Scheme::ring);
  for (Scheme scheme : wishes.schemes)
    if (scheme != Scheme::ring)
      all[static_cast<std::size_t>(channelOf(scheme))].push_back(scheme);
  all[secondChannel].push_back(wishes.schemes.front());
  return all;
}

int firstBucket(int channel, Scheme scheme) {
  const auto index = std::find(known.begin(), known.end(), scheme) - known.begin();
  const int lane = channel * static_cast<int>(known.size()) + static_cast<int>(index);
  return 1 + lane * DeviceChannels::maxUnderWay; // 0 is the device's own
}

} // namespace

std::vector<Scheme> channelSchemes(WirePrecision wire) {
  std::vector<Scheme> schemes(known.begin(), known.end());
  if (wire != WirePrecision::fp32)
    std::erase(schemes, Scheme::factors);
  return schemes;
}

std::vector<Bucket> bucketsFor(const ChannelWishes &wishes) {
  std::vector<Bucket> buckets;
  int channel = 0;
  for (const std::vector<Scheme> &schemes : schemesOf(wishes)) {
    for (Scheme scheme : schemes) {
      // One says how long messages are; updates look for the very bucket.
      const int count = scheme == Scheme::reduceScatter ? 2 * Repetitions::maxCount : 1;
      for (int i = 0; i < count; ++i)
        buckets.push_back({firstBucket(channel, scheme) + i, channel, scheme, 0, wishes.largest});
    }
    ++channel;
  }
  return buckets;
}

Result<std::shared_ptr<DeviceChannels>> DeviceChannels::open(const Backend &backend, Peers &peers,
                                                             Team &team, Device &device,
                                                             const ChannelWishes &wishes) {
  std::shared_ptr<DeviceChannels> opened(new DeviceChannels(team, device, wishes));
  const auto schemes = schemesOf(wishes);
  for (int number = 0; number < channelCount; ++number) {
    const std::vector<Scheme> &carried = schemes[static_cast<std::size_t>(number)];
    opened->channels.emplace_back();
    if (carried.empty())
      continue;
    Result<TunerFolder> folder =
        TunerFolder::create(carried.front() == Scheme::tree ? "tree" : "ring");
    if (!folder)
      return folder.status();
    auto channel = backend.openChannel(device.forChannels(), peers,
                                       {.channel = number,
                                        .schemes = carried,
                                        .wire = wishes.wire,
                                        .sharesDevice = wishes.sharesDevice,
                                        .planFolder = folder->path()});
    if (!channel)
      return channel.status();
    opened->channels.back() = std::move(*channel);
  }
  return opened;
}

Lane DeviceChannels::lane(Scheme scheme) const {
  const int number = channelOf(scheme);
  return {channels[static_cast<std::size_t>(number)].get(), scheme, firstBucket(number, scheme)};
}

Lane DeviceChannels::secondLane() const {
  const Scheme scheme = wishes.schemes.front();
  return {channels[secondChannel].get(), scheme, firstBucket(secondChannel, scheme)};
}

Status DeviceChannels::begin() {
  if (Status s = device.begin(); !s)
    return s;
  for (const std::unique_ptr<Channel> &channel : channels)
    if (channel)
      channel->startStep(device.step());
  return device.run(device.compute().back());
}

Status DeviceChannels::send(const Lane &lane, int number, std::int64_t bytes, std::int64_t at) {
  std::byte *gradients = device.room(Space::gradients) + at;
  std::byte *parameters = device.room(Space::parameters) + at;
  const int bucket = lane.firstBucket + number;
  const auto length = static_cast<std::size_t>(bytes);
  if (lane.scheme == Scheme::reduceScatter)
    return lane.channel->issueSharded(bucket, {gradients, parameters, length, ElementType::f32});
  if (lane.scheme != Scheme::factors)
    return lane.channel->issue(bucket, gradients, length, ElementType::f32, lane.scheme);
  // In two places, as a layer's inputs and its outputs' gradients are.
  const std::int64_t first = bytes / 8 * 4;
  std::vector<GatherPart> parts;
  for (const GatherPart &part : {GatherPart{gradients, first, ElementType::f32},
                                 GatherPart{parameters, bytes - first, ElementType::f32}})
    if (part.bytes > 0)
      parts.push_back(part);
  return lane.channel->issueGather(bucket, std::move(parts));
}

Status DeviceChannels::sendAll(std::span<const Lane> lanes, int first, int count,
                               std::int64_t bytes) {
  for (int number = first; number < first + count; ++number)
    for (const Lane &lane : lanes)
      if (Status s = send(lane, number, bytes); !s)
        return s;
  for (int number = first; number < first + count; ++number)
    for (const Lane &lane : lanes)
      if (Status s = wait(lane, number); !s)
        return s;
  return Status::ok();
}

/// One message at least goes before those that count: ranks begin when all of them are there.
Result<double> DeviceChannels::time(std::span<const Lane> lanes, std::int64_t bytes,
                                    Repetitions times) {
  const int warmUps = std::max(1, times.warmUps);
  if (Status s = team.align(); !s)
    return s;
  if (Status s = begin(); !s)
    return s;
  if (Status s = sendAll(lanes, 0, warmUps, std::min(bytes, longestWarmUp)); !s)
    return s;
  if (Status s = device.mark(1); !s)
    return s;
  if (Status s = sendAll(lanes, warmUps, times.runs, bytes); !s)
    return s;
  if (Status s = device.mark(2); !s)
    return s;
  const auto seconds = device.marks();
  if (!seconds)
    return seconds.status();
  return team.slowest(((*seconds)[2] - (*seconds)[1]) / times.runs);
}

Messages channelMessages(const std::shared_ptr<DeviceChannels> &channels,
                         const std::vector<Scheme> &schemes, std::int64_t largest) {
  Messages messages;
  for (Scheme scheme : schemes)
    messages.schemes.push_back(
        {scheme, largestMessage(scheme, channels->ranks(), largest),
         [channels, lane = channels->lane(scheme)](std::int64_t bytes, Repetitions times) {
           return channels->time(std::span(&lane, 1), bytes, times);
         }});
  messages.two =
      [channels, lanes = std::array{channels->lane(schemes.front()), channels->secondLane()}](
          std::int64_t bytes, Repetitions times) { return channels->time(lanes, bytes, times); };
  return messages;
}

} // namespace syncline::calibrate
