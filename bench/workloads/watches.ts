// Watching: what it costs to tell two hundred watchers of one change, beside a bare server that writes the same frame to as many streams.

import { connect, type TLSSocket } from 'node:tls'
import { Connection, requestBytes } from '../connection.js'
import { cpuMicroseconds } from '../cpu-time.js'
import { headersOf } from '../floor.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import type { Cost, Served } from '../load.js'
import { MarkCounter } from '../mark-counter.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const watchers = 200

/** What a watch looks like, and what stands once in each of its frames and nowhere else. */
export interface Stream {
  readonly path: string
  readonly accept?: string
  readonly mark: Buffer
}

export const jsonMark = Buffer.from('}\n')

const longestSilenceMs = 10_000

/**
 * How many changes writers may be ahead of what the audience has seen. Without a bound a floor that writes every event by itself has a
 * minute's work left after four seconds, and the server closes connections that send nothing for so long.
 */
const mostAhead = 64

/** Open streams that count the frames that come in. */
class Audience {
  frames = 0
  private readonly sockets: readonly TLSSocket[]
  private waiting: (() => void)[] = []

  private constructor(sockets: readonly TLSSocket[], mark: Buffer) {
    this.sockets = sockets
    for (const socket of sockets) {
      const counter = new MarkCounter(mark)
      socket.on('data', (chunk: Buffer) => this.take(counter.count(chunk)))
    }
  }

  static async open(served: Served, { mark, ...parts }: Stream): Promise<Audience> {
    const request = requestBytes(served, { method: 'GET', ...parts })
    return new Audience(await Promise.all(Array.from({ length: watchers }, () => openStream(served, request))), mark)
  }

  /** Fails when nothing comes in any more before all is there: an event is lost then, and a bench that waits for it says nothing. */
  async until(frames: number): Promise<void> {
    while (this.frames < frames) {
      await new Promise<void>((resolve, reject) => {
        const missing = (): Error => new Error(`${frames - this.frames} of the frames that watchers should see did not come`)
        const silence = setTimeout(() => reject(missing()), longestSilenceMs)
        this.waiting.push(() => {
          clearTimeout(silence)
          resolve()
        })
      })
    }
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy()
  }

  private take(frames: number): void {
    this.frames += frames
    const woken = this.waiting
    if (woken.length === 0) return
    this.waiting = []
    for (const wake of woken) wake()
  }
}

/** Resolves when the head of the answer has come. */
function openStream({ port, ca }: Served, request: Buffer): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca, ALPNProtocols: ['http/1.1'] }, () => socket.write(request))
    socket.once('error', reject)
    socket.once('data', () => resolve(socket))
  })
}

interface Announcer {
  readonly served: Served
  readonly stream: Stream
  /** The next request of a writer. */
  readonly change: (counter: number, writer: number) => Buffer
  /** How many write at a time; left out: one. */
  readonly writers?: number
  /** Done beside every change, and waited for. */
  readonly beside?: (counter: number) => Promise<unknown>
}

/** One side: change, wait for the answer, and at the end of the round until everybody has heard of everything. */
export async function watchSide({ served, stream, change, writers = 1, beside }: Announcer): Promise<Side & { close(): void }> {
  const audience = await Audience.open(served, stream)
  const connections = await Promise.all(Array.from({ length: writers }, () => Connection.open(served)))
  let counter = 0
  const run = async (durationMs: number): Promise<Cost> => {
    const begin = performance.now()
    const cpuBefore = cpuMicroseconds(served.pid)
    const framesBefore = audience.frames
    let changes = 0
    const write = async (connection: Connection, writer: number): Promise<void> => {
      for (; performance.now() - begin < durationMs; changes++) {
        await audience.until(framesBefore + (changes - mostAhead) * watchers)
        const number = counter++
        await Promise.all([connection.exchange(change(number, writer)), beside?.(number)])
      }
    }
    await Promise.all(connections.map(write))
    await audience.until(framesBefore + changes * watchers)
    const delivered = changes * watchers
    const seconds = (performance.now() - begin) / 1000
    return {
      requests: delivered,
      cpuMicrosecondsEach: (cpuMicroseconds(served.pid) - cpuBefore) / delivered,
      perSecond: delivered / seconds,
    }
  }
  const close = (): void => {
    audience.close()
    for (const connection of connections) connection.close()
  }
  return { run, close }
}

/**
 * Beside two hundred watchers there are only about 150 writes a second: what carries them out would be compiled while it is measured, for half a
 * minute. So they are made without watchers first.
 */
const warmUpMs = 8000

export async function warmWrites(lab: Lab, served: Served, change: (counter: number) => Buffer): Promise<void> {
  const generator = await lab.generator(served, 1)
  await generator.run({ durationMs: warmUpMs, next: (_, counter) => change(counter), expect: 200 })
}

/** A watch of a collection from now on. */
export async function watchPathOf(served: Served, path: string): Promise<string> {
  const list = await fetchOnce(served, { method: 'GET', path })
  const version = /"resourceVersion":"(\d+)"/.exec(list.body.toString('utf8', 0, 300))?.[1]
  return `${path}?watch=1&resourceVersion=${version}`
}

interface Crowd {
  readonly workload: string
  readonly namespace: string
  readonly writers: number
  readonly bar?: number
  /** Whether the floor writes every event by itself. */
  readonly oneByOne: boolean
}

const crowds: readonly Crowd[] = [
  { workload: '200 watchers, per event', namespace: 'bench-watch', writers: 1, bar: 2, oneByOne: false },
  { workload: '200 watchers, 16 writers, per event', namespace: 'bench-watch-16', writers: 16, bar: 0.5, oneByOne: true },
  { workload: '  beside writes that Node joins', namespace: 'bench-watch-16', writers: 16, oneByOne: false },
]

export async function measureWatch(lab: Lab): Promise<readonly Line[]> {
  const lines: Line[] = []
  for (const crowd of crowds) lines.push(await measureCrowd(lab, crowd))
  return lines
}

async function measureCrowd(lab: Lab, { workload, namespace, writers, bar, oneByOne }: Crowd): Promise<Line> {
  const { served } = await lab.usual()
  const path = await makeNamespace(served, namespace)
  const nameOf = (writer: number): string => `watched-${writer}`
  const text = (counter: number, writer: number): string => configMapText({ name: nameOf(writer), bytes: 1024, mark: `mark ${counter} ` })
  const { status } = await fetchOnce(served, { method: 'GET', path: `${path}/${nameOf(0)}` })
  if (status === 404) await fill(served, { path, count: writers, body: (writer) => text(-1, writer) })
  const change = (target: Served) => (counter: number, writer: number) =>
    requestBytes(target, { method: 'PUT', path: `${path}/${nameOf(writer)}`, body: text(counter, writer) })
  await warmWrites(lab, served, (counter) => change(served)(counter, 0))
  const sample = await fetchOnce(served, { method: 'PUT', path: `${path}/${nameOf(0)}`, body: text(-2, 0) })
  const object = sample.body.toString().trimEnd()
  const floor = await lab.floor()
  await floor.behave({
    kind: 'frames',
    headers: headersOf(sample),
    frame: Buffer.from(`{"type":"MODIFIED","object":${object}}\n`).toString('base64'),
    body: sample.body.toString('base64'),
    oneByOne,
  })
  const stream = { path: await watchPathOf(served, path), mark: jsonMark }
  const sides = await Promise.all([
    watchSide({ served: floor.served, stream, change: change(floor.served), writers }),
    watchSide({ served, stream, change: change(served), writers }),
  ])
  const [floorSide, serverSide] = sides
  const { floor: floorCost, server, ratio, perSecond } = await compare(floorSide, serverSide, lab.rounds)
  for (const side of sides) side.close()
  return {
    workload,
    floor: microseconds(floorCost),
    server: microseconds(server),
    ratio,
    ...(bar === undefined ? {} : { bar }),
    note: `${perSecond.toFixed(0)} events/s`,
  }
}
