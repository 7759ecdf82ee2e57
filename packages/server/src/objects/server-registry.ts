// Registry of the API servers on this store: one key per server, which expires unless it is renewed.

import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import type { KeyRange, Storage } from '../storage/storage.js'

const collection = 'servers'

export const serversRange: KeyRange = { start: `${collection}/`, end: `${collection}0` }

export interface Server {
  /** Unique id of the server process. */
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

  async renew({ holder, address }: Server, ttlMs: number): Promise<void> {
    const expiresAtMs = this.#clock.now() + ttlMs
    await this.#storage.commit([{ key: keyOf(holder), value: Buffer.from(address), expect: undefined, expiresAtMs }])
  }

  async leave(holder: string): Promise<void> {
    await this.#storage.commit([{ key: keyOf(holder), value: undefined, expect: undefined }])
  }

  otherAddresses(holder: string): readonly string[] {
    const ownKey = keyOf(holder)
    const { entries } = this.#storage.range({ ...serversRange, limit: Number.POSITIVE_INFINITY })
    return entries.filter(({ key }) => key !== ownKey).map(({ value }) => value.toString())
  }
}

const keyOf = (holder: string): string => `${collection}/${holder}`
