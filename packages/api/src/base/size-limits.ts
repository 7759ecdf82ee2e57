// Size limits of requests and stored objects, in bytes.

export const maxBodyBytes = 3 * 1024 * 1024

/** DeleteOptions and bodies of actions such as evictions, which are always decoded on the event loop. */
export const maxOptionsBytes = 64 * 1024

/** Stored object: etcd's default request limit (1.5 MiB) minus 32 KiB for the key and other writes of the same commit. */
export const maxObjectBytes = 1536 * 1024 - 32 * 1024

/** Headroom above maxObjectBytes for status updates and finalizer removal, without which a full object could not be deleted. */
export const objectHeadroomBytes = 24 * 1024
