// Endpoints of the Service of this API, for several servers on one store: each renews its registration and writes the addresses of all.

import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { type Timers, waitAtMost } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { Server, ServerRegistry } from '../../objects/server-registry.js'
import type { Engine } from '../../verbs/engine.js'
import { apiServerEndpoints } from '../bootstrap/apiserver-objects.js'
import { ensureObjects, type WantedObject } from '../bootstrap/ensure-objects.js'
import { Periodic } from '../framework/timers.js'

interface ApiServerEndpointsOptions {
  readonly engine: Engine
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly registry: ServerRegistry
  readonly logger: Logger
  readonly self: Server
  readonly securePort: number
  readonly timers?: Timers
}

export const defaultIntervalMs = 10_000
export const defaultTtlMs = 15_000
/** Time that a shutdown waits for a store that does not respond. */
const leaveTimeoutMs = 2_000

export class ApiServerEndpoints {
  private readonly options: ApiServerEndpointsOptions
  private isAnnounced = false
  private renewals: Periodic | undefined
  private closing: Promise<void> | undefined

  constructor(options: ApiServerEndpointsOptions) {
    this.options = options
  }

  /** Renews the registration of this server; returns the addresses of all servers with the same IP family. */
  async announce(): Promise<readonly string[]> {
    const { registry, self } = this.options
    await registry.renew(self, defaultTtlMs)
    this.isAnnounced = true
    return sorted([self.address, ...this.otherAddresses()])
  }

  start(): void {
    this.renewals = new Periodic(defaultIntervalMs, () => this.renew(), this.options.timers)
  }

  /** Removes the address of this server. The address of a killed server expires. */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    const last = this.renewals?.close()
    if (!this.isAnnounced) return
    await waitAtMost(leaveTimeoutMs, last === undefined ? this.leave() : last.then(() => this.leave()))
  }

  private async renew(): Promise<void> {
    try {
      await this.writeEndpoints(await this.announce())
    } catch (error) {
      this.options.logger.warn({ error }, 'cannot renew the endpoint of this server; retrying')
    }
  }

  private async leave(): Promise<void> {
    const { engine, registry, self, logger } = this.options
    try {
      // Fails on an unavailable store before a write starts for which closing the store would wait.
      await engine.store.readIndex()
      await registry.leave(self.holder)
      await this.writeEndpoints(sorted(this.otherAddresses()))
    } catch (error) {
      logger.warn({ error }, 'cannot remove the endpoint of this server; it will expire')
    }
  }

  private otherAddresses(): readonly string[] {
    const { registry, self } = this.options
    return registry.otherAddresses(self.holder).filter((address) => address.includes(':') === self.address.includes(':'))
  }

  /** Without addresses nothing is written, so that the address of the last server stays. */
  private async writeEndpoints(addresses: readonly string[]): Promise<void> {
    const { engine, catalogs, securePort } = this.options
    await ensureObjects(engine, catalogs.current, apiServerEndpoints(engine.identity, { addresses, securePort }).map(unlessSameAddresses))
  }
}

const sorted = (addresses: readonly string[]): readonly string[] => sortTexts([...new Set(addresses)])

/** Ignores ports: servers on one machine differ in them and would overwrite each other's. The last one to start sets the port. */
const unlessSameAddresses = (wanted: WantedObject): WantedObject => ({
  ...wanted,
  reconcile: (stored, next) => (sameValue(addressesIn(stored), addressesIn(next)) ? stored : (wanted.reconcile?.(stored, next) ?? stored)),
})

interface EndpointsObject extends ApiObject {
  readonly subsets?: readonly { readonly addresses?: readonly { readonly ip?: string }[] }[]
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[]
}

function addressesIn({ subsets = [], endpoints = [] }: EndpointsObject): readonly (string | undefined)[] {
  const listed = subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip))
  return [...listed, ...endpoints.flatMap(({ addresses = [] }) => addresses)]
}
