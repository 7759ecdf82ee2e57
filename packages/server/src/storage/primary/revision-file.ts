// The newest revision of the store, in memory that the primary and its workers share: a file of 16 bytes on /dev/shm without a name.
// A worker that has received this revision answers a consistent read without a request to the primary.

import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import type { Storage, Unfollow } from '../storage.js'

const folder = '/dev/shm'
const fileBytes = 16

export class RevisionFile {
  readonly #descriptor: number
  /** Descriptor that workers inherit: they cannot write the file. */
  readonly readOnly: number
  readonly #bytes = Buffer.alloc(fileBytes)

  /** Undefined where there is no shared memory as files, or no space in it. */
  static create(): RevisionFile | undefined {
    try {
      const path = `${folder}/cluster-apiserver-${randomUUID()}`
      const file = new RevisionFile(openSync(path, 'wx', 0o600), openSync(path, 'r'))
      unlinkSync(path)
      return file
    } catch {
      // No /dev/shm, or it is full: workers request the revision from the primary.
      return undefined
    }
  }

  private constructor(descriptor: number, readOnly: number) {
    this.#descriptor = descriptor
    this.readOnly = readOnly
  }

  /** Keeps the file up to date before any commit is acknowledged. `onError`: workers must not read any more. */
  follow(storage: Storage, onError: (error: unknown) => void): Unfollow {
    this.write(storage.revision)
    return storage.follow(() => {
      try {
        this.write(storage.revision)
      } catch (error) {
        onError(error)
      }
    })
  }

  write(revision: number): void {
    // The second copy has the opposite byte order: a reader in the middle of a write notices it.
    this.#bytes.writeBigUInt64LE(BigInt(revision), 0)
    this.#bytes.writeBigUInt64BE(BigInt(revision), 8)
    writeSync(this.#descriptor, this.#bytes, 0, fileBytes, 0)
  }

  close(): void {
    closeSync(this.#descriptor)
    closeSync(this.readOnly)
  }
}

const maxTries = 8

/** Reads the revision; undefined if none was written yet. */
export function revisionReader(descriptor: number): () => number | undefined {
  const bytes = Buffer.alloc(fileBytes)
  const readOnce = (): number | undefined => {
    if (readSync(descriptor, bytes, 0, fileBytes, 0) !== fileBytes) return undefined
    const revision = bytes.readBigUInt64LE(0)
    return revision === bytes.readBigUInt64BE(8) ? Number(revision) : undefined
  }
  return () => {
    for (let i = 0; i < maxTries; i++) {
      const revision = readOnce()
      if (revision !== undefined) return revision
    }
    return undefined
  }
}
