/* A library with CUPTI's functions that hands over the records that a test gives it: see fake_cupti.py. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*Request)(uint8_t** buffer, size_t* size, size_t* most);
typedef void (*Callback)(void* data, int domain, uint32_t id, const void* about);
typedef void (*Complete)(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Request request;
static Complete complete;
static uint64_t (*timestamp)(void);
static uint8_t* buffer;
static size_t capacity, valid, dropped;
static int subscribed, enabled[64], callbacks, forced;
static Callback callback;
static struct { char name[64]; int result; } refusals[8];
static int refusal_count;

/* ---- for the test */

/* The function answers `result` from now on. */
void fake_refuse(const char* name, int result) {
    snprintf(refusals[refusal_count].name, sizeof refusals[0].name, "%s", name);
    refusals[refusal_count++].result = result;
}

/* Puts a record into the buffer, as CUPTI does when work has ended. */
void fake_record(const void* record, size_t size) {
    pthread_mutex_lock(&lock);
    if (buffer == NULL && request != NULL) {
        size_t most = 0;
        request(&buffer, &capacity, &most);
        valid = 0;
    }
    if (buffer == NULL || valid + size + 8 > capacity) {
        ++dropped;
    } else {
        uint32_t length = (uint32_t)size;
        memcpy(buffer + valid, &length, sizeof length);
        memcpy(buffer + valid + 8, record, size);
        valid += 8 + size;
    }
    pthread_mutex_unlock(&lock);
}

void fake_drop(size_t count) { dropped += count; }

/* Hands the buffer over. */
void fake_deliver(void) {
    pthread_mutex_lock(&lock);
    uint8_t* const full = buffer;
    const size_t bytes = valid;
    buffer = NULL;
    pthread_mutex_unlock(&lock);
    if (full != NULL) complete(NULL, 0, full, capacity, bytes);
}

int fake_subscribed(void) { return subscribed; }
int fake_enabled(int kind) { return enabled[kind]; }
int fake_callbacks(void) { return callbacks; }
int fake_forced(void) { return forced; }
uint64_t fake_timestamp(void) { return timestamp(); }

/* The begin and the end of a call of cuLaunchKernel on this thread. */
void fake_launch(uint32_t correlation) {
    struct {
        int site;
        const void* others[5];
        uint32_t context;
        void* data;
        uint32_t correlation;
    } about = {0};
    about.correlation = correlation;
    if (subscribed == 0) return;
    for (about.site = 0; about.site <= 1; ++about.site) callback(NULL, 1, 307, &about);
}

/* ---- CUPTI's functions */

static int answer(const char* name) {
    for (int i = 0; i < refusal_count; ++i)
        if (strcmp(refusals[i].name, name) == 0) return refusals[i].result;
    return 0;
}

int cuptiGetVersion(uint32_t* version) {
    *version = 130000;
    return 0;
}
int cuptiGetResultString(int result, const char** text) {
    *text = result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_FAKE";
    return 0;
}
int cuptiSubscribe(void** subscriber, Callback on_call, void* data) {
    (void)data;
    const int result = answer("cuptiSubscribe");
    if (result != 0) return result;
    *subscriber = &subscribed;
    callback = on_call;
    ++subscribed;
    return 0;
}
struct parameters {
    size_t size;
    const char* name;
    char* other;
    size_t other_size;
};
int cuptiSubscribe_v2(void** subscriber, Callback on_call, void* data, struct parameters* about) {
    const int result = answer("cuptiSubscribe");
    if (result == 39) snprintf(about->other, about->other_size, "a profiler");
    return result != 0 ? result : cuptiSubscribe(subscriber, on_call, data);
}
int cuptiUnsubscribe(void* subscriber) {
    (void)subscriber;
    --subscribed;
    callbacks = 0;
    return 0;
}
int cuptiActivityEnable(int kind) {
    const int result = answer("cuptiActivityEnable");
    if (result == 0) enabled[kind] = 1;
    return result;
}
int cuptiActivityDisable(int kind) {
    enabled[kind] = 0;
    return 0;
}
int cuptiEnableCallback(uint32_t enable, void* subscriber, int domain, uint32_t id) {
    (void)subscriber, (void)domain, (void)id;
    const int result = answer("cuptiEnableCallback");
    if (result == 0) callbacks += enable ? 1 : -1;
    return result;
}
int cuptiActivityRegisterCallbacks(Request on_request, Complete on_complete) {
    request = on_request;
    complete = on_complete;
    return 0;
}
int cuptiActivityRegisterTimestampCallback(uint64_t (*function)(void)) {
    timestamp = function;
    return 0;
}
int cuptiActivityFlushAll(uint32_t flags) {
    if (flags & 1) ++forced;
    fake_deliver();
    return 0;
}
int cuptiActivityGetNextRecord(uint8_t* bytes, size_t size, void** record) {
    uint8_t* next = bytes;
    if (*record != NULL) {
        uint8_t* const previous = (uint8_t*)*record - 8;
        uint32_t length;
        memcpy(&length, previous, sizeof length);
        next = previous + 8 + length;
    }
    if (next + 8 > bytes + size) return 12;
    *record = next + 8;
    return 0;
}
int cuptiActivityGetNumDroppedRecords(void* context, uint32_t stream, size_t* count) {
    (void)context, (void)stream;
    *count = dropped;
    dropped = 0;
    return 0;
}
