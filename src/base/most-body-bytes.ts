// The limits on sizes that requests and the store share.

/** Body of a request. */
export const mostBodyBytes = 3 * 1024 * 1024

/** Body that is always decoded on the event loop: DeleteOptions, and the bodies of actions such as an eviction. */
export const maxOptionsBytes = 64 * 1024

/** Stored object: what etcd takes in one request by default (1.5 MiB), less room for the key and for what is committed with the object. */
export const maxObjectBytes = 1536 * 1024 - 32 * 1024

/** Room above the limit for status reports and for the removal of finalizers: a full object must not stay forever. */
export const objectHeadroomBytes = 24 * 1024
