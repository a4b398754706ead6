// SPDX-License-Identifier: Apache-2.0
#include "process/interruption.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <system_error>
#include <thread>
#include <utility>

namespace devlink::app {

namespace {

// For a link to tidy up. Compilers within the process do not hear of the request.
constexpr timespec kPatience = {.tv_sec = 2, .tv_nsec = 0};

void DieBy(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  kill(getpid(), signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

}  // namespace

struct Interruption::State {
  std::stop_source stop;
  std::atomic<int> signal = 0;
  sigset_t held = {};  // signals that do not end the process by themselves any more
  bool is_holding = false;
  bool is_watching = false;
};

Interruption::Interruption() : state_(std::make_shared<State>()) {}

void Interruption::Hold() {
  if (std::exchange(state_->is_holding, true)) return;
  sigemptyset(&state_->held);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
      sigaddset(&state_->held, signal);
    }
  }
  // Threads that are started from now on have this mask from this one.
  pthread_sigmask(SIG_BLOCK, &state_->held, nullptr);
}

void Interruption::Watch() {
  if (std::exchange(state_->is_watching, true)) return;
  Hold();
  try {
    std::thread([state = state_] {
      int signal = 0;
      if (sigwait(&state->held, &signal) != 0) return;
      state->signal = signal;
      state->stop.request_stop();
      sigtimedwait(&state->held, nullptr, &kPatience);
      DieBy(signal);
    }).detach();
  } catch (const std::system_error&) {
    // Without a thread to wait for them, signals end the process as they always do.
    pthread_sigmask(SIG_UNBLOCK, &state_->held, nullptr);
  }
}

std::stop_token Interruption::StopToken() const { return state_->stop.get_token(); }

bool Interruption::came() const { return state_->signal != 0; }

void Interruption::EndProcess() {
  if (came()) DieBy(state_->signal);
  if (state_->is_holding && !state_->is_watching) {
    pthread_sigmask(SIG_UNBLOCK, &state_->held, nullptr);
  }
}

}  // namespace devlink::app
