// Snapshots of a server in memory: frozen copies of its objects with their history.

import type { MemorySnapshot } from '../../storage/memory/memory-storage.js'

/** State of a server at one time, for `restore`. Shares memory with the server and its forks, and costs little while nothing changes. */
export interface Snapshot {
  /** The newest resourceVersion in the snapshot. */
  readonly resourceVersion: string
}

/** A server and all its forks, which have the same certificates, keys and settings. */
export type Family = object

export class ServerSnapshot implements Snapshot {
  readonly resourceVersion: string
  readonly #family: Family
  readonly #contents: MemorySnapshot

  constructor(family: Family, contents: MemorySnapshot) {
    this.resourceVersion = String(contents.revision)
    this.#family = family
    this.#contents = contents
  }

  /** Throws for a snapshot of an unrelated server: its objects belong to other certificates, keys and settings. */
  static contentsOf(snapshot: Snapshot, family: Family): MemorySnapshot {
    if (!(snapshot instanceof ServerSnapshot)) throw new TypeError('restore: not a snapshot; pass the value of server.snapshot()')
    if (snapshot.#family === family) return snapshot.#contents
    throw new Error(
      'restore: the snapshot is of another server; only snapshots of this server, its forks and the server it was forked from fit',
    )
  }
}
