// A watcher that outlives servers: it resumes from the last version it saw, and keeps the whole story.

import assert from 'node:assert/strict'
import type { ApiClient } from '../kit/api-client.js'
import type { WatchStream } from '../kit/watch-stream.js'
import { meaningOf, type StoreModel } from './store-model.js'

export interface Sight {
  readonly version: number
  readonly type: string
  readonly name: string
  readonly meaning: string
}

const patienceMs = 60_000

export class Watcher {
  readonly sights: Sight[] = []
  private readonly path: string
  private readonly model: StoreModel
  private last: number
  private stream: WatchStream | undefined
  private taken = 0

  constructor(input: { readonly path: string; readonly model: StoreModel; readonly from: number }) {
    this.path = input.path
    this.model = input.model
    this.last = input.from
  }

  async connect(client: ApiClient): Promise<void> {
    this.take()
    this.stream = await client.watch(`${this.path}?watch=1&resourceVersion=${this.last}`)
    this.taken = 0
    assert.equal(this.stream.status, 200, `a watch from version ${this.last} was refused: ${JSON.stringify(this.stream.events)}`)
  }

  /** The server is gone: what came before it went counts. */
  async disconnected(): Promise<void> {
    await this.stream?.ended
    this.take()
  }

  /** Reads on until an event of that object with that value. */
  async until(name: string, value: string): Promise<void> {
    const end = Date.now() + patienceMs
    const isThere = (): boolean =>
      this.stream?.events.some(({ object }) => object.metadata.name === name && object.data?.['v'] === value) ?? false
    while (!isThere()) {
      assert.ok(Date.now() < end && this.stream?.isEnded === false, `a watcher at version ${this.last} never saw ${name} = ${value}`)
      await this.stream?.atLeast(this.stream.events.length + 1, end - Date.now()).catch(() => undefined)
    }
    this.take()
  }

  close(): void {
    this.stream?.close()
  }

  private take(): void {
    for (const event of this.stream?.events.slice(this.taken) ?? []) {
      const version = Number(event.object.metadata.resourceVersion)
      const meaning = meaningOf(event)
      assert.ok(version > this.last, `an event was repeated or out of order: version ${version} (${meaning}) after ${this.last}`)
      this.model.remember(version, meaning)
      this.sights.push({ version, type: event.type, name: event.object.metadata.name, meaning })
      this.last = version
    }
    this.taken = this.stream?.events.length ?? 0
  }
}

/** A story must make sense by itself: nothing is added twice, changed or removed without being there. */
export function replay(sights: readonly Sight[]): ReadonlyMap<string, string> {
  const state = new Map<string, string>()
  for (const { type, name, meaning, version } of sights) {
    const fits = type === 'ADDED' ? !state.has(name) : state.has(name)
    assert.ok(fits, `version ${version}: ${type} ${name}, which was ${state.has(name) ? '' : 'not '}there`)
    if (type === 'DELETED') state.delete(name)
    else state.set(name, meaning)
  }
  return state
}
