#error "cuscope's host runtime does not support <cub/cub.cuh> yet"
