// How long to wait before the next try: longer and longer, with some randomness so that not all come back at once.

import { refuseUnknownOptions } from '../base/known-options.js'
import { backOffNames } from './option-names.js'
import { sleep } from './requester.js'

export interface BackOffSettings {
  readonly firstMs?: number
  readonly mostMs?: number
}

export class BackOff {
  private readonly firstMs: number
  private readonly mostMs: number
  private nextMs: number

  constructor(settings: BackOffSettings = {}) {
    refuseUnknownOptions('backOff', settings, backOffNames)
    const { firstMs = 100, mostMs = 30_000 } = settings
    this.firstMs = firstMs
    this.mostMs = mostMs
    this.nextMs = firstMs
  }

  /** It worked: the next failure is the first one again. */
  reset(): void {
    this.nextMs = this.firstMs
  }

  async wait(signal?: AbortSignal): Promise<void> {
    const ms = this.nextMs * (0.5 + Math.random() / 2)
    this.nextMs = Math.min(this.nextMs * 2, this.mostMs)
    await sleep(ms, signal)
  }
}
