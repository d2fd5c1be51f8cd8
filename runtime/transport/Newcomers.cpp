// Accepting connections and reading their first frames.
#include "runtime/transport/Newcomers.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace syncline::transport {

void Newcomers::addTo(std::vector<pollfd> &polled) const {
  // A listener that cannot be served stays ready, so it is not polled during the pause.
  const bool takes = core::Clock::now() >= nextTake;
  polled.push_back({takes ? listener.get() : -1, POLLIN, 0});
  for (const Newcomer &n : waiting)
    polled.push_back({n.socket.get(), POLLIN, 0});
}

core::Deadline Newcomers::nextTimer() const {
  core::Deadline next = core::deadlineIn(3600);
  if (core::Clock::now() < nextTake)
    next = nextTake;
  for (const Newcomer &n : waiting)
    next = std::min(next, n.end);
  return next;
}

std::vector<Newcomers::Arrival> Newcomers::serve(std::span<const pollfd> polled) {
  std::vector<Arrival> arrivals;
  std::vector<Newcomer> staying;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    Newcomer &n = waiting[i];
    Frame hello;
    const FrameState state = polled[i + 1].revents ? read(n, hello) : FrameState::incomplete;
    const bool isLate = core::Clock::now() >= n.end;
    if (state == FrameState::complete)
      arrivals.push_back({std::move(n.socket), std::move(hello), std::move(n.input)});
    else if (state == FrameState::incomplete && !isLate)
      staying.push_back(std::move(n));
    else if (state == FrameState::incomplete)
      ++silent;
  }
  waiting = std::move(staying);
  if (polled[0].revents)
    take();
  return arrivals;
}

void Newcomers::take() {
  Socket socket = listener.accept();
  if (socket.isOpen()) {
    waiting.push_back({std::move(socket), core::deadlineIn(helloSeconds)});
    return;
  }
  // A connection that has already gone is no error; missing resources are.
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
    lastError = errno;
  nextTake = core::deadlineIn(pause);
}

/// Reads the first frame. The state is `malformed` also when the other end has closed.
FrameState Newcomers::read(Newcomer &newcomer, Frame &hello) {
  char bytes[4 + maxHelloBytes];
  const ssize_t n = recv(newcomer.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return FrameState::incomplete;
  if (n <= 0)
    return FrameState::malformed;
  newcomer.input.append(bytes, n);
  return decodeFrame(newcomer.input, hello, maxHelloBytes);
}

std::string Newcomers::trouble() const {
  if (lastError == 0)
    return {};
  std::string text = std::strerror(lastError);
  if (silent > 0)
    text += "; " + std::to_string(silent) + " that did not say who they are were closed";
  return text;
}

} // namespace syncline::transport
