// The numbers on `/metrics`, under the names by which dashboards know them. Requests only add to tallies; the text is made when somebody asks,
// in pieces, so that nobody waits for it.

import { inPieces } from '../../base/pieces.js'
import { compareText } from '../../base/text-order.js'
import type { RequestHooks } from '../lifecycle.js'
import { type AllowedValues, contentType, Exposition, type Family } from './exposition.js'
import { RequestTallies } from './request-tallies.js'
import { WatchTallies } from './watch-tallies.js'

/** Somebody who has numbers to show. */
export type MetricSource = () => Iterable<Family> | Promise<Iterable<Family>>

export interface MetricOptions {
  readonly sources: readonly MetricSource[]
  /** Names of families that are not shown. */
  readonly disabled?: ReadonlySet<string>
  readonly allowed?: AllowedValues
}

export class ServerMetrics {
  readonly #sources: readonly MetricSource[]
  readonly #disabled: ReadonlySet<string>
  readonly #exposition: Exposition
  #requests = new RequestTallies()
  readonly watches = new WatchTallies()
  #writing: Promise<readonly Uint8Array[]> | undefined

  constructor({ sources, disabled = new Set(), allowed }: MetricOptions) {
    this.#sources = [() => this.#requests.families(), () => this.watches.families(), ...sources]
    this.#disabled = disabled
    this.#exposition = new Exposition(allowed)
  }

  /** A request counts when it is over, and so a watch with all the time that it took. */
  readonly hooks: RequestHooks = {
    responseStarted: (exchange) => {
      if (exchange.isLongRunning) this.#requests.begin(exchange)
    },
    responseComplete: (exchange) => this.#requests.complete(exchange),
  }

  /** Requests and events of watches are counted from nothing again; what others count goes on. */
  reset(): void {
    this.#requests = new RequestTallies()
    this.watches.reset()
  }

  /** The text in pieces. Whoever asks while it is being written gets the same. */
  async read(): Promise<{ readonly contentType: string; readonly pieces: readonly Uint8Array[] }> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
    return { contentType, pieces: await this.#writing }
  }

  async #write(): Promise<readonly Uint8Array[]> {
    const all = (await Promise.all(this.#sources.map((source) => source()))).flatMap((families) => [...families])
    const shown = all.filter(({ name }) => !this.#disabled.has(name)).sort((a, b) => compareText(a.name, b.name))
    return await inPieces(this.#exposition.write(shown))
  }
}
