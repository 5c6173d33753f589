/* A library with CUPTI's functions that hands over the records that a test gives it: see fake_cupti.py. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*Request)(uint8_t** buffer, size_t* size, size_t* most);
typedef void (*Complete)(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Request request;
static Complete complete;
static uint64_t (*timestamp)(void);
static uint8_t* buffer;
static size_t capacity, valid, dropped;
static int subscribed, enabled[64], apis, forced;
static struct { char name[64]; int result; } refusals[8];
static int refusal_count;
static __thread uint64_t pushed[16];
static __thread int depth;

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

uint64_t fake_pushed(void) { return depth > 0 ? pushed[depth - 1] : 0; }
int fake_depth(void) { return depth; }
int fake_subscribed(void) { return subscribed; }
int fake_enabled(int kind) { return enabled[kind]; }
int fake_apis(void) { return apis; }
int fake_forced(void) { return forced; }
uint64_t fake_timestamp(void) { return timestamp(); }

/* Called within a call that is traced. The test sets it. */
static void (*in_call)(uint64_t id);
void fake_on_call(void (*function)(uint64_t id)) { in_call = function; }

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
int cuptiSubscribe(void** subscriber, void* callback, void* data) {
    (void)callback, (void)data;
    const int result = answer("cuptiSubscribe");
    if (result != 0) return result;
    *subscriber = &subscribed;
    ++subscribed;
    return 0;
}
struct parameters {
    size_t size;
    const char* name;
    char* other;
    size_t other_size;
};
int cuptiSubscribe_v2(void** subscriber, void* callback, void* data, struct parameters* about) {
    const int result = answer("cuptiSubscribe");
    if (result == 39) snprintf(about->other, about->other_size, "a profiler");
    return result != 0 ? result : cuptiSubscribe(subscriber, callback, data);
}
int cuptiUnsubscribe(void* subscriber) {
    (void)subscriber;
    --subscribed;
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
int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable) {
    (void)id;
    apis += enable ? 1 : -1;
    return 0;
}
int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable) { return cuptiActivityEnableDriverApi(id, enable); }
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
int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id) {
    (void)kind;
    pushed[depth++] = id;
    if (in_call != NULL) in_call(id);
    return 0;
}
int cuptiActivityPopExternalCorrelationId(int kind, uint64_t* last) {
    (void)kind;
    if (depth == 0) return 18;
    *last = pushed[--depth];
    return 0;
}
