// status cudaErrorIllegalAddress
// launch 1 1
struct Node {
    int value;
    Node* next;
};
__global__ void fault(Node* p) {
    p->value = p->next->value;  // of memory that is all zeros
}
