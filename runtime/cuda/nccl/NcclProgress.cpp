// How far a channel's messages are, and the times of those that are done.
#include "runtime/cuda/nccl/NcclChannel.h"

#include <algorithm>

namespace syncline::cuda {

/// Whether a message is finished. In a replayed step events are recorded only when they are
/// reached, or are cleared at the launch: one that lies before the step's start is the last step's.
bool NcclChannel::isFinished(const Message &message) const {
  if ((!isReplayed && !wasReplayed) || &message == &loss.message)
    return message.finished.isReached();
  const Event &start = *message.stepStart;
  return start.isReached() && message.finished.isReached() && message.finished.follows(start);
}

std::vector<const NcclChannel::Message *> NcclChannel::watched() const {
  std::vector<const Message *> all(now.before.begin(), now.before.end());
  if (executable.looksBack())
    all.insert(all.end(), stepBefore.issued.begin(), stepBefore.issued.end());
  all.insert(all.end(), now.issued.begin(), now.issued.end());
  const auto turn = [](const Message *message) { return message->name.turn(); };
  if (const Message &last = loss.message; last.isUnderWay)
    all.insert(std::ranges::upper_bound(all, last.name.turn(), {}, turn), &last);
  return all;
}

std::size_t NcclChannel::finishedMessages(const MessageName *&underWay) const {
  std::size_t count = 0;
  for (const Message *message : watched())
    if (isFinished(*message))
      ++count;
    else if (!underWay)
      underWay = &message->name;
  return count;
}

double NcclChannel::exposedSeconds() const {
  links->rest();
  double sum = 0;
  (void)statusOf("", [&] {
    for (const Message *message : complete().waited)
      sum += std::max(0.0, secondsBetween(message->awaited, message->finished));
  });
  return sum;
}

std::vector<core::BucketTiming> NcclChannel::timings() const {
  std::vector<core::BucketTiming> all;
  (void)statusOf("", [&] {
    for (const Message *message : complete().waited) {
      const Event &start = *message->stepStart;
      all.push_back({message->name.bucket, secondsBetween(start, message->issued),
                     secondsBetween(start, message->started),
                     secondsBetween(start, message->finished), message->name.step, message->half});
    }
  });
  return all;
}

} // namespace syncline::cuda
