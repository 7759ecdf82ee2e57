// The most bytes that a request may bring, and that an object may have which is made of requests.

export const mostBodyBytes = 3 * 1024 * 1024
