// A thread that watches the running grids, so that grids without progress get help or come to an end. It
// lives as long as the process.
#pragma once

#include <condition_variable>
#include <mutex>

namespace cuscope::simt {

class Grid;

class Monitor {
  public:
    static Monitor& instance();

    // The monitor calls grid.watch() only between watch() and unwatch().
    void watch(Grid& grid);
    void unwatch(Grid& grid);

  private:
    Monitor();
    void run();

    std::mutex mutex_;
    std::condition_variable wanted_;
    Grid* watched_ = nullptr;
    bool started_ = false, sleeps_ = false;
};

}  // namespace cuscope::simt
