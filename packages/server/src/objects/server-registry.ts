// Which servers work on this store: a row for each, which goes by itself when it is not renewed.

import type { Clock } from '../base/clock.js'
import type { KeyRange, Storage } from '../storage/storage.js'

const collection = 'servers'

/** The rows of all servers. */
export const serversRange: KeyRange = { start: `${collection}/`, end: `${collection}0` }

export interface Server {
  /** The word that tells this run of a server from all others. */
  readonly holder: string
  readonly address: string
}

export class ServerRegistry {
  readonly #storage: Storage
  readonly #clock: Clock

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage
    this.#clock = clock
  }

  /** Says that a server is there for so long, and where others reach it. */
  async renew({ holder, address }: Server, lastsMs: number): Promise<void> {
    const expiresAtMs = this.#clock.now() + lastsMs
    await this.#storage.commit([{ key: keyOf(holder), value: Buffer.from(address), expect: undefined, expiresAtMs }])
  }

  async leave(holder: string): Promise<void> {
    await this.#storage.commit([{ key: keyOf(holder), value: undefined, expect: undefined }])
  }

  /** Of all but this one. */
  addressesBeside(holder: string): readonly string[] {
    const own = keyOf(holder)
    const { entries } = this.#storage.range({ ...serversRange, limit: Number.POSITIVE_INFINITY })
    return entries.filter(({ key }) => key !== own).map(({ value }) => value.toString())
  }
}

const keyOf = (holder: string): string => `${collection}/${holder}`
