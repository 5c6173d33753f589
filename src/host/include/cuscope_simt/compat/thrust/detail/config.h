#include <thrust/...>
