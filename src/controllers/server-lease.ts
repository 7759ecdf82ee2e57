// Says from time to time that this server still runs: its lease among the objects, taken at a start, is renewed long before it ends.

import type { CatalogSource } from '../api/catalog-source.js'
import type { Logger } from '../base/logger.js'
import type { Engine } from '../verbs/engine.js'
import { ownLease, type ServerName } from './bootstrap/own-objects.js'
import { placeAll } from './bootstrap/place.js'
import { Periodic } from './kit/periodic.js'

export interface ServerLeaseOptions {
  readonly engine: Engine
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly logger: Logger
  readonly self: ServerName
  readonly renewMs: number
}

export class ServerLease {
  private readonly options: ServerLeaseOptions
  private readonly renewals: Periodic

  constructor(options: ServerLeaseOptions) {
    this.options = options
    this.renewals = new Periodic(options.renewMs, () => this.renew())
  }

  close(): Promise<void> {
    return this.renewals.close()
  }

  private async renew(): Promise<void> {
    const { engine, catalogs, logger, self } = this.options
    try {
      await placeAll(engine, catalogs.current, [ownLease(engine.identity, { ...self, now: engine.clock.now() })])
    } catch (err) {
      logger.warn({ err }, 'cannot renew the lease of this server; retrying')
    }
  }
}
