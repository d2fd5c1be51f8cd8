// Spinning, sleeping and calling the watches.
#include "runtime/cuda/HostWait.h"

#include "runtime/core/Deadline.h"
#include "runtime/cuda/Check.h"

#include <thread>

namespace syncline::cuda {

int HostWait::add(DeviceWatch watch) {
  watches.emplace(next, std::move(watch));
  return next++;
}

Status HostWait::ask() const {
  for (const auto &[number, watch] : watches)
    SYNCLINE_TRY(watch());
  return Status::ok();
}

Status HostWait::until(const std::function<bool()> &isDone) const {
  using std::chrono::microseconds;
  constexpr auto spin = microseconds(100), pace = microseconds(1000);
  constexpr auto longest = std::chrono::duration_cast<core::Clock::duration>(microseconds(200));
  const auto start = core::Clock::now();
  auto asked = start;
  for (bool done = false;;) {
    if (const Status s = statusOf("", [&] { done = isDone(); }); !s || done)
      return s;
    const auto now = core::Clock::now();
    if (now - asked >= pace) {
      asked = now;
      SYNCLINE_TRY(ask());
    }
    if (now - start >= spin)
      std::this_thread::sleep_for(std::min((now - start) / 50, longest));
  }
}

} // namespace syncline::cuda
