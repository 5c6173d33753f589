#error "cuscope's host runtime does not support <mma.h> yet"
