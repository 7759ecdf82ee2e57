// Says from time to time that this server still runs: its lease among the objects, taken at a start, is renewed long before it ends.

import type { Catalog } from '../api/catalog.js'
import type { Logger } from '../base/logger.js'
import type { Engine } from '../verbs/engine.js'
import { leaseSeconds, ownLease } from './bootstrap/own-objects.js'
import { placeAll } from './bootstrap/place.js'

export interface ServerLeaseOptions {
  readonly engine: Engine
  readonly catalog: Catalog
  readonly logger: Logger
  readonly hostname: string
  /** The word that tells this run of the server from others on the same machine. */
  readonly holder: string
  readonly intervalMs?: number
}

/** Seldom enough that an idle server stays idle, and three times before the lease would end. */
const renewMs = (leaseSeconds * 1000) / 4

export class ServerLease {
  private readonly options: ServerLeaseOptions
  private readonly timer: NodeJS.Timeout
  private renewing: Promise<void> = Promise.resolve()

  constructor(options: ServerLeaseOptions) {
    this.options = options
    this.timer = setInterval(() => {
      this.renewing = this.renew()
    }, options.intervalMs ?? renewMs)
    this.timer.unref()
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.renewing
  }

  private async renew(): Promise<void> {
    const { engine, catalog, logger, hostname, holder } = this.options
    try {
      await placeAll(engine, catalog, [ownLease(engine.identity, { hostname, holder, now: engine.clock.now() })])
    } catch (err) {
      logger.warn({ err }, 'the lease of this server could not be renewed; the next try is in a quarter of an hour')
    }
  }
}
