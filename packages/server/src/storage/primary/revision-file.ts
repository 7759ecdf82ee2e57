// The newest revision of the store, in memory that the primary and its workers share: a file of 16 bytes on /dev/shm without a name.
// A worker that has received this revision answers a consistent read without a request to the primary.

import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import type { Storage, Unfollow } from '../storage.js'

const folder = '/dev/shm'
const fileBytes = 16

export class RevisionFile {
  readonly #descriptor: number
  /** Descriptor that workers inherit: they cannot write the file. */
  readonly readOnly: number
  readonly #bytes = Buffer.alloc(fileBytes)
  readonly #unfollow: Unfollow

  /**
   * Keeps the file up to date before any commit is acknowledged. `onError`: workers must not read any more.
   * Undefined where there is no shared memory as files, or no space in it: workers then request the revision from the primary.
   */
  static create(storage: Pick<Storage, 'revision' | 'follow'>, onError: (error: unknown) => void): RevisionFile | undefined {
    const path = `${folder}/cluster-apiserver-${randomUUID()}`
    try {
      return new RevisionFile(path, storage, onError)
    } catch {
      return undefined
    } finally {
      rmSync(path, { force: true })
    }
  }

  private constructor(path: string, storage: Pick<Storage, 'revision' | 'follow'>, onError: (error: unknown) => void) {
    this.#descriptor = openSync(path, 'wx', 0o600)
    this.readOnly = openSync(path, 'r')
    // Allocates the memory: later writes cannot fail for lack of space.
    this.write(storage.revision)
    this.#unfollow = storage.follow(() => {
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
    this.#unfollow()
    closeSync(this.#descriptor)
    closeSync(this.readOnly)
  }
}

const maxTries = 8

/** Reads the revision; undefined if each try met a write. */
export function revisionReader(descriptor: number): () => number | undefined {
  const bytes = Buffer.alloc(fileBytes)
  return () => {
    for (let i = 0; i < maxTries; i++) {
      readSync(descriptor, bytes, 0, fileBytes, 0)
      const revision = bytes.readBigUInt64LE(0)
      if (revision === bytes.readBigUInt64BE(8)) return Number(revision)
    }
    return undefined
  }
}
