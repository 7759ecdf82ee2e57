// The addresses behind the API's own service where several servers work on one store: each says again and again that it is there, and the
// service has the addresses of all that did so lately.

import type { CatalogSource } from '../api/catalog-source.js'
import type { ApiObject } from '../api/object.js'
import { sameValue } from '../api/validation/same-value.js'
import { atMost } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import { sortTexts } from '../base/text-order.js'
import type { Server, ServerRegistry } from '../objects/server-registry.js'
import type { Engine } from '../verbs/engine.js'
import { ownEndpoints } from './bootstrap/own-objects.js'
import { placeAll } from './bootstrap/place.js'
import type { Wanted } from './bootstrap/wanted.js'
import { Periodic } from './kit/periodic.js'

export interface OwnAddressOptions {
  readonly engine: Engine
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly registry: ServerRegistry
  readonly logger: Logger
  readonly self: Server
  readonly securePort: number
  readonly intervalMs?: number
  readonly lastsMs?: number
}

const renewMs = 10_000
/** A server that was not heard of for this long is gone. */
const presentMs = 15_000
/** At the end, nobody waits longer for a store that does not answer. */
const farewellMs = 2_000

export class OwnAddress {
  private readonly options: OwnAddressOptions
  private isAnnounced = false
  private renewals: Periodic | undefined
  private closing: Promise<void> | undefined

  constructor(options: OwnAddressOptions) {
    this.options = options
  }

  /** Says for the first time that this server is there, and answers with the addresses of all that are. */
  async announce(): Promise<readonly string[]> {
    const { registry, self, lastsMs = presentMs } = this.options
    await registry.renew(self, lastsMs)
    this.isAnnounced = true
    return sorted([self.address, ...this.others()])
  }

  /** From now on by itself. */
  start(): void {
    this.renewals = new Periodic(this.options.intervalMs ?? renewMs, () => this.renew())
  }

  /** The service forgets this server at once; one that is killed, a little later. */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    const last = this.renewals?.close()
    if (!this.isAnnounced) return
    await atMost(farewellMs, last === undefined ? this.leave() : last.then(() => this.leave()))
  }

  private async renew(): Promise<void> {
    try {
      await this.show(await this.announce())
    } catch (error) {
      this.options.logger.warn({ error }, 'cannot renew the address of this server; retrying')
    }
  }

  private async leave(): Promise<void> {
    const { engine, registry, self, logger } = this.options
    try {
      // A store that does not answer is found out here, where nothing is on its way yet that closing it would have to wait for.
      await engine.store.readIndex('write')
      await registry.leave(self.holder)
      await this.show(sorted(this.others()))
    } catch (error) {
      logger.warn({ error }, 'cannot remove the address of this server; it will expire')
    }
  }

  /** Those of the own family: the objects have room for one. */
  private others(): readonly string[] {
    const { registry, self } = this.options
    return registry.addressesBeside(self.holder).filter((address) => address.includes(':') === self.address.includes(':'))
  }

  /** A service without any address helps nobody, so the last one leaves its own. */
  private async show(addresses: readonly string[]): Promise<void> {
    const { engine, catalogs, securePort } = this.options
    await placeAll(engine, catalogs.current, ownEndpoints(engine.identity, { addresses, securePort }).map(unlessSame))
  }
}

const sorted = (addresses: readonly string[]): readonly string[] => sortTexts([...new Set(addresses)])

/** Servers on one machine differ in their ports, and would take turns in writing theirs: ports follow whoever started last. */
const unlessSame = (wanted: Wanted): Wanted => ({
  ...wanted,
  reconcile: (stored, next) => (sameValue(addressesIn(stored), addressesIn(next)) ? stored : (wanted.reconcile?.(stored, next) ?? stored)),
})

interface Addressed extends ApiObject {
  readonly subsets?: readonly { readonly addresses?: readonly { readonly ip?: string }[] }[]
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[]
}

function addressesIn({ subsets = [], endpoints = [] }: Addressed): readonly (string | undefined)[] {
  const listed = subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip))
  return [...listed, ...endpoints.flatMap(({ addresses = [] }) => addresses)]
}
