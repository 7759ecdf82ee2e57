// What is under a connection, or under a server that listens. Node has no words for it and does not promise it: node-insides looks whether it is there.

export interface Handle {
  /** Whether Node itself wants to read: it does not while nobody takes what has come. */
  readonly reading?: boolean
  readStop?(): void
  readStart?(): void
  /** What the system has not taken yet. */
  readonly writeQueueSize?: number
  readonly bytesRead?: number
  /** Under TLS. */
  readonly _parent?: Handle
}

/** Null or undefined once it is closed. */
export const handleOf = <T extends object = Handle>(of: object): T | null | undefined => (of as { readonly _handle?: T | null })._handle
