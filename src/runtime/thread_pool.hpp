// OS threads that help with work of the calling thread: the blocks of a kernel, the pieces of a large copy.
// They are started when they are needed and live as long as the process.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

namespace cuscope {

class ThreadPool {
  public:
    static ThreadPool& instance();

    // Work that several threads do together.
    class Job {
      public:
        // Does a part of the work on the calling thread. It may wait for other threads of the job: each
        // thread that is sent to a job gets there, whatever other jobs do.
        virtual void participate() = 0;

      protected:
        Job() = default;
        ~Job() = default;
        Job(const Job&) = delete;
        Job& operator=(const Job&) = delete;

      private:
        friend ThreadPool;
        unsigned helpers_ = 0;  // threads in the job or on their way to it; under the pool's mutex
    };

    // The number of OS threads that the machine runs at once, the caller included.
    unsigned width() const { return width_; }

    // Sends threads to job.participate(); returns how many go. Up to width() threads are kept for later jobs.
    unsigned send(Job& job, unsigned threads);
    // Returns once no sent thread is in the job, or on its way to it.
    void recall(Job& job);

    // Starts a thread of its own, detached, with a small stack. The thread blocks all signals except SIGSEGV,
    // SIGBUS, SIGFPE and SIGILL.
    static bool start_thread(void* (*function)(void*), void* argument);

  private:
    ThreadPool();
    void work();

    const unsigned width_;
    std::mutex mutex_;
    std::condition_variable work_came_, job_left_;
    std::deque<Job*> jobs_;  // one entry for each thread that is on its way
    unsigned threads_ = 0, idle_ = 0;
};

}  // namespace cuscope
