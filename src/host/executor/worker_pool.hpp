// OS threads that help to run grids, and a monitor thread that watches the running grids. They live as long
// as the process.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

namespace cuscope::simt {

class Grid;

class WorkerPool {
  public:
    static WorkerPool& instance();

    // The number of OS threads that the machine runs at once, the caller included.
    unsigned width() const { return width_; }

    // Sends threads to grid.participate(); returns how many go. Up to width() threads are kept for later
    // grids.
    unsigned send(Grid& grid, unsigned threads);
    // Returns once no sent thread is in the grid, or on its way to it.
    void recall(Grid& grid);

    // The monitor calls grid.watch() only between watch() and unwatch().
    void watch(Grid& grid);
    void unwatch(Grid& grid);

  private:
    WorkerPool();
    void work();
    void monitor();
    static bool start_thread(void* (*function)(void*), void* argument);

    const unsigned width_;

    std::mutex mutex_;
    std::condition_variable work_came_, grid_left_;
    std::deque<Grid*> jobs_;
    unsigned threads_ = 0, idle_ = 0;

    std::mutex watch_mutex_;
    std::condition_variable watch_wanted_;
    Grid* watched_ = nullptr;
    bool monitor_started_ = false, monitor_sleeps_ = false;
};

}  // namespace cuscope::simt
