// Watches that are opened, closed and reopened: short watches from random versions, and full-history watchers that resume.

import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchStream } from '../kit/network/watch-stream.js'
import type { WatchRecord } from './history.js'
import { pastRevision } from './random-reads.js'
import { seenOf, versionOf } from './recorder.js'
import { groups, reasonOf, type WorkerInput } from './worker.js'

interface Session {
  readonly from: WatchRecord['from']
  readonly group?: string | undefined
  /** Closes the watch after this time. */
  readonly durationMs?: number
}

/** `expired`: the server responded with 410. */
type Ending = 'expired' | 'ended'

/** An open watch stream and its last revision. */
class OpenWatch {
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
  { from, group, durationMs }: Session,
  onOpen: (open: OpenWatch) => void = () => undefined,
): Promise<{ readonly ending: Ending; readonly last: number }> {
  const { recorder, replicas, random, path, name } = input
  const replica = random.pick(replicas)
  const { client } = replica
  const start = typeof from === 'number' ? from : 0
  const notOpened = { ending: 'ended', last: start } as const
  if (client === undefined) return notOpened
  const version = from === 'recent' ? '' : `&resourceVersion=${from === 'any' ? 0 : from}`
  const selector = group === undefined ? '' : `&labelSelector=group%3D${group}`
  const startMs = performance.now()
  const stream = await client.watch(`${path}?watch=1&allowWatchBookmarks=true${version}${selector}`).catch((error: unknown) => {
    recorder.countProblem(`watch: ${reasonOf(error)}`)
    return undefined
  })
  if (stream === undefined) return notOpened
  const open = new OpenWatch(stream, start)
  onOpen(open)
  const timer = durationMs === undefined ? undefined : setTimeout(() => stream.close(), durationMs)
  await stream.ended
  clearTimeout(timer)
  const endMs = performance.now()
  if (stream.status !== 200) {
    recorder.countProblem(`watch: ${stream.status}`)
    return { ending: stream.status === 410 ? 'expired' : 'ended', last: start }
  }
  const error = stream.events.find(({ type }) => type === 'ERROR')
  if (error !== undefined) recorder.countProblem(`watch: ERROR ${error.object.code}`)
  const seen = stream.events.flatMap((event, index) => (event.type === 'ERROR' ? [] : [seenOf(event, stream.arrivedMs[index] ?? endMs)]))
  const ending = error === undefined ? 'ended' : `ended with ${error.object.code}`
  recorder.record({ type: 'watch', client: name, server: replica.name, startMs, endMs, from, group, seen, ending })
  const last = seen.reduce((highest, { revision }) => Math.max(highest, revision), start)
  return { ending: error?.object.code === 410 ? 'expired' : 'ended', last }
}

/** Opens short watches repeatedly. */
export async function watchBriefly(input: WorkerInput): Promise<void> {
  const { recorder, random } = input
  while (!recorder.isOver) {
    const chance = random.next()
    const from = chance < 0.15 ? 'recent' : chance < 0.3 ? 'any' : (pastRevision(input) ?? 'recent')
    const group = random.next() < 0.3 ? random.pick(groups) : undefined
    await openSession(input, { from, group, durationMs: random.below(2500) })
    await sleep(random.below(200))
  }
}

/** Follows one server like an informer: resumes after a disconnect, and lists again after 410. */
export class FullHistoryWatcher {
  readonly #input: WorkerInput
  #last: number
  #open: OpenWatch | undefined
  #isStopped = false

  constructor(input: WorkerInput, from: number) {
    this.#input = input
    this.#last = from
  }

  /** Last revision that was delivered. */
  get revision(): number {
    return Math.max(this.#last, this.#open?.revision ?? 0)
  }

  async follow(): Promise<void> {
    while (!this.#isStopped) {
      const { ending, last } = await openSession(this.#input, { from: this.#last }, (opened) => {
        this.#open = opened
        if (this.#isStopped) opened.close()
      })
      this.#open = undefined
      this.#last = Math.max(this.#last, last)
      if (ending === 'expired') await this.#relist()
      await sleep(20)
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#open?.close()
  }

  async #relist(): Promise<void> {
    const { replicas, path, recorder, name } = this.#input
    const [replica] = replicas
    const startMs = performance.now()
    const response = await replica?.client?.send({ path, signal: AbortSignal.timeout(6000) }).catch(() => undefined)
    if (replica === undefined || response?.status !== 200) return
    const { metadata, items } = response.json
    const revision = Number(metadata.resourceVersion)
    recorder.record({
      type: 'list',
      client: name,
      server: replica.name,
      startMs,
      endMs: performance.now(),
      freshness: 'recent',
      group: undefined,
      pages: [{ revision, versions: items.map(versionOf) }],
      isWhole: true,
    })
    recorder.countProblem('auditor: listed anew')
    this.#last = revision
  }
}
