// Renews the identity Lease of this server (feature gate APIServerIdentity).

import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Timers } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { Engine } from '../../verbs/engine.js'
import { apiServerLease, type ServerName } from '../bootstrap/apiserver-objects.js'
import { ensureObjects } from '../bootstrap/ensure-objects.js'
import { Periodic } from '../framework/timers.js'

interface ApiServerLeaseOptions {
  readonly engine: Engine
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly logger: Logger
  readonly self: ServerName
  readonly renewMs: number
  readonly timers: Timers
}

export class ApiServerLease {
  private readonly options: ApiServerLeaseOptions
  private readonly renewals: Periodic

  constructor(options: ApiServerLeaseOptions) {
    this.options = options
    this.renewals = new Periodic(options.renewMs, () => this.renew(), options.timers)
  }

  close(): Promise<void> {
    return this.renewals.close()
  }

  private async renew(): Promise<void> {
    const { engine, catalogs, logger, self } = this.options
    try {
      await ensureObjects(engine, catalogs.current, [apiServerLease(engine.identity, { ...self, now: engine.clock.now() })])
    } catch (error) {
      logger.warn({ error }, 'cannot renew the identity lease of this server; retrying')
    }
  }
}
