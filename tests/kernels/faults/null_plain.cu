// status cudaErrorIllegalAddress
// launch 1 1
struct Node {
    int value;
    Node* next;
};
__global__ void fault(int* p) {
    Node* node = nullptr;
    if (p[0] != 0) node = reinterpret_cast<Node*>(p);
    p[1] = node->value;
}
