#error "cuscope's host runtime does not support <cooperative_groups.h> yet"
