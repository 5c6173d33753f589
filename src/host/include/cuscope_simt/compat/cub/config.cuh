#include <cub/...>
