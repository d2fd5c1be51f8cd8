// Timing messages between marks.
#include "runtime/calibrate/DeviceChannels.h"

#include "runtime/calibrate/TunerFolder.h"

#include <algorithm>
#include <array>

namespace syncline::calibrate {
namespace {

constexpr int generalChannel = 0, treeChannel = 1, libraryChannel = 2, secondChannel = 3,
              channelCount = 4;

int channelOf(Scheme scheme) {
  return scheme == Scheme::tree      ? treeChannel
         : scheme == Scheme::library ? libraryChannel
                                     : generalChannel;
}

/// The algorithm of all-reduces on a channel that begins with the scheme; nothing where the library
/// chooses it.
std::optional<std::string> algorithmOf(Scheme scheme) {
  return ncclName(scheme) == "any" ? std::nullopt : std::optional<std::string>(ncclName(scheme));
}

/// The schemes of each channel. The ring is always included, for messages beside computation.
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
  const int route = channel * static_cast<int>(allSchemes().size()) + static_cast<int>(scheme);
  return 1 + route * DeviceChannels::maxUnderWay; // bucket 0 is the device's own
}

} // namespace

std::vector<Scheme> channelSchemes() {
  std::vector<Scheme> schemes = carriedSchemes(/*byNccl=*/true);
  std::erase_if(schemes, [](Scheme scheme) { return pricedAs(scheme) != scheme; });
  return schemes;
}

std::vector<core::Bucket> bucketsFor(const ChannelWishes &wishes) {
  std::vector<core::Bucket> buckets;
  int channel = 0;
  for (const std::vector<Scheme> &schemes : schemesOf(wishes)) {
    for (Scheme scheme : schemes) {
      // One bucket states the messages' length, but updates need a bucket for each message.
      const int count = scheme == Scheme::reduceScatter ? 2 * Repetitions::maxCount : 1;
      for (int i = 0; i < count; ++i)
        buckets.push_back({firstBucket(channel, scheme) + i, channel, scheme, 0, wishes.largest});
    }
    ++channel;
  }
  return buckets;
}

Result<std::shared_ptr<DeviceChannels>> DeviceChannels::open(const core::Backend &backend,
                                                             core::Peers &peers, Team &team,
                                                             Device &device,
                                                             const ChannelWishes &wishes) {
  std::shared_ptr<DeviceChannels> opened(new DeviceChannels(team, device, wishes));
  const auto schemes = schemesOf(wishes);
  for (int number = 0; number < channelCount; ++number) {
    const std::vector<Scheme> &carried = schemes[static_cast<std::size_t>(number)];
    opened->channels.emplace_back();
    if (carried.empty())
      continue;
    SYNCLINE_TRY_GET(folder, TunerFolder::create(algorithmOf(carried.front())));
    SYNCLINE_TRY_GET(channel, backend.openChannel(device.forChannels(), peers,
                                                  {.channel = number,
                                                   .schemes = carried,
                                                   .sharesDevice = wishes.sharesDevice,
                                                   .planFolder = folder->path()}));
    opened->channels.back() = std::move(*channel);
  }
  return opened;
}

Route DeviceChannels::route(Scheme scheme) const {
  const int number = channelOf(scheme);
  return {channels[static_cast<std::size_t>(number)].get(), scheme, firstBucket(number, scheme)};
}

Route DeviceChannels::secondRoute() const {
  const Scheme scheme = wishes.schemes.front();
  return {channels[secondChannel].get(), scheme, firstBucket(secondChannel, scheme)};
}

Status DeviceChannels::begin() {
  SYNCLINE_TRY(device.begin());
  for (const std::unique_ptr<core::Channel> &channel : channels)
    if (channel)
      channel->startStep(device.step());
  return device.run(device.compute().back());
}

Status DeviceChannels::send(const Route &route, int number, std::int64_t bytes, std::int64_t at) {
  std::byte *gradients = device.room(Space::gradients) + at;
  std::byte *parameters = device.room(Space::parameters) + at;
  const int bucket = route.firstBucket + number;
  const auto length = static_cast<std::size_t>(bytes);
  if (route.scheme == Scheme::reduceScatter)
    return route.channel->issueSharded(bucket, {gradients, parameters, length, ElementType::f32});
  if (route.scheme != Scheme::factors)
    return route.channel->issue(bucket, gradients, length, ElementType::f32, route.scheme);
  // The message has two parts, like a layer's inputs and its outputs' gradients.
  const std::int64_t first = bytes / 8 * 4;
  std::vector<core::GatherPart> parts;
  for (const core::GatherPart &part :
       {core::GatherPart{gradients, first, ElementType::f32},
        core::GatherPart{parameters, bytes - first, ElementType::f32}})
    if (part.bytes > 0)
      parts.push_back(part);
  return route.channel->issueGather(bucket, std::move(parts));
}

Status DeviceChannels::sendAll(std::span<const Route> routes, int first, int count,
                               std::int64_t bytes) {
  for (int number = first; number < first + count; ++number)
    for (const Route &route : routes)
      SYNCLINE_TRY(send(route, number, bytes));
  for (int number = first; number < first + count; ++number)
    for (const Route &route : routes)
      SYNCLINE_TRY(wait(route, number));
  return Status::ok();
}

/// At least one warm-up message precedes the counted ones, so that all ranks begin them together.
Result<double> DeviceChannels::time(std::span<const Route> routes, std::int64_t bytes,
                                    Repetitions times) {
  const int warmUps = std::max(1, times.warmUps);
  SYNCLINE_TRY(team.align());
  SYNCLINE_TRY(begin());
  SYNCLINE_TRY(sendAll(routes, 0, warmUps, std::min(bytes, longestWarmUp)));
  SYNCLINE_TRY(device.mark(1));
  SYNCLINE_TRY(sendAll(routes, warmUps, times.runs, bytes));
  SYNCLINE_TRY(device.mark(2));
  SYNCLINE_TRY_GET(seconds, device.marks());
  return team.slowest(((*seconds)[2] - (*seconds)[1]) / times.runs);
}

Messages channelMessages(const std::shared_ptr<DeviceChannels> &channels,
                         const std::vector<Scheme> &schemes, std::int64_t largest) {
  Messages messages;
  for (Scheme scheme : schemes)
    messages.schemes.push_back(
        {scheme, largestMessage(scheme, channels->ranks(), largest),
         [channels, route = channels->route(scheme)](std::int64_t bytes, Repetitions times) {
           return channels->time(std::span(&route, 1), bytes, times);
         }});
  messages.two =
      [channels, routes = std::array{channels->route(schemes.front()), channels->secondRoute()}](
          std::int64_t bytes, Repetitions times) { return channels->time(routes, bytes, times); };
  return messages;
}

} // namespace syncline::calibrate
