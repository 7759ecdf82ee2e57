// Watches that are opened, cut and opened again: visitors begin at random versions and stay a moment; auditors follow the whole story.

import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchStream } from '../kit/watch-stream.js'
import type { Watching } from './history.js'
import { pastRevision } from './reading.js'
import { seenOf, versionOf } from './recorder.js'
import { groups, type WorkerInput, whyOf } from './worker.js'

interface Session {
  readonly from: Watching['from']
  readonly group?: string | undefined
  /** Closes it by itself after that time. */
  readonly stayMs?: number
}

type Ending = 'gone' | 'over'

/** One stream from its beginning to its end, written down. */
class Visit {
  last: number
  isOpen = true
  readonly #stream: WatchStream

  constructor(stream: WatchStream, from: number) {
    this.#stream = stream
    this.last = from
  }

  get revision(): number {
    return Math.max(this.last, Number(this.#stream.events.at(-1)?.object.metadata.resourceVersion ?? 0) || 0)
  }

  close(): void {
    this.#stream.close()
  }
}

async function openSession(
  input: WorkerInput,
  { from, group, stayMs }: Session,
  onOpen: (visit: Visit) => void = () => undefined,
): Promise<{ readonly ending: Ending; readonly last: number }> {
  const { recorder, replicas, random, path, name } = input
  const replica = random.pick(replicas)
  const { client } = replica
  const start = typeof from === 'number' ? from : 0
  const nothing = { ending: 'over', last: start } as const
  if (client === undefined) return nothing
  const version = from === 'recent' ? '' : `&resourceVersion=${from === 'any' ? 0 : from}`
  const selector = group === undefined ? '' : `&labelSelector=group%3D${group}`
  const startMs = performance.now()
  const stream = await client.watch(`${path}?watch=1&allowWatchBookmarks=true${version}${selector}`).catch((error: unknown) => {
    recorder.trouble(`watch: ${whyOf(error)}`)
    return undefined
  })
  if (stream === undefined) return nothing
  const visit = new Visit(stream, start)
  onOpen(visit)
  const timer = stayMs === undefined ? undefined : setTimeout(() => stream.close(), stayMs)
  await stream.ended
  clearTimeout(timer)
  const endMs = performance.now()
  if (stream.status !== 200) {
    recorder.trouble(`watch: ${stream.status}`)
    return { ending: stream.status === 410 ? 'gone' : 'over', last: start }
  }
  const error = stream.events.find(({ type }) => type === 'ERROR')
  if (error !== undefined) recorder.trouble(`watch: ERROR ${error.object.code}`)
  const seen = stream.events.flatMap((event, index) => (event.type === 'ERROR' ? [] : [seenOf(event, stream.arrivedMs[index] ?? endMs)]))
  const ending = error === undefined ? 'ended' : `ended with ${error.object.code}`
  recorder.note({ what: 'watch', client: name, server: replica.name, startMs, endMs, from, group, seen, ending })
  const last = seen.reduce((highest, { revision }) => Math.max(highest, revision), start)
  return { ending: error?.object.code === 410 ? 'gone' : 'over', last }
}

/** Comes and goes. */
export async function visit(input: WorkerInput): Promise<void> {
  const { recorder, random } = input
  while (!recorder.isOver) {
    const chance = random.next()
    const from = chance < 0.15 ? 'recent' : chance < 0.3 ? 'any' : (pastRevision(input) ?? 'recent')
    const group = random.next() < 0.3 ? random.pick(groups) : undefined
    await openSession(input, { from, group, stayMs: random.below(2500) })
    await sleep(random.below(200))
  }
}

/** Follows one server from beginning to end as an informer does: goes on where it was cut off, and lists anew when history is gone. */
export class Auditor {
  readonly #input: WorkerInput
  #last: number
  #visit: Visit | undefined
  #isStopped = false

  constructor(input: WorkerInput, from: number) {
    this.#input = input
    this.#last = from
  }

  /** The last revision that it was told of. */
  get revision(): number {
    return Math.max(this.#last, this.#visit?.revision ?? 0)
  }

  async follow(): Promise<void> {
    while (!this.#isStopped) {
      const { ending, last } = await openSession(this.#input, { from: this.#last }, (opened) => {
        this.#visit = opened
        if (this.#isStopped) opened.close()
      })
      this.#visit = undefined
      this.#last = Math.max(this.#last, last)
      if (ending === 'gone') await this.#listAnew()
      await sleep(20)
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#visit?.close()
  }

  async #listAnew(): Promise<void> {
    const { replicas, path, recorder, name } = this.#input
    const [replica] = replicas
    const startMs = performance.now()
    const answer = await replica?.client?.send({ path, signal: AbortSignal.timeout(6000) }).catch(() => undefined)
    if (replica === undefined || answer?.status !== 200) return
    const { metadata, items } = answer.json
    const revision = Number(metadata.resourceVersion)
    recorder.note({
      what: 'list',
      client: name,
      server: replica.name,
      startMs,
      endMs: performance.now(),
      freshness: 'recent',
      group: undefined,
      pages: [{ revision, versions: items.map(versionOf) }],
      isWhole: true,
    })
    recorder.trouble('auditor: listed anew')
    this.#last = revision
  }
}
