// Watch events for 200 watchers, compared with a bare server that writes the same frames.

import { Connection, requestBytes } from '../connection.js'
import { cpuMicroseconds } from '../cpu-time.js'
import { headersOf } from '../floor.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import type { Cost, Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'
import { jsonFrameEnd, type Stream, Watchers, watcherCount } from '../watchers.js'

/**
 * Maximum number of changes ahead of the watchers. Without it, a floor that writes events one by one would have a backlog of a minute,
 * and the server closes connections that are idle for so long.
 */
const maxAhead = 64

interface WatchSideOptions {
  readonly served: Served
  readonly stream: Stream
  /** Next request of a writer. */
  readonly change: (counter: number, writer: number) => Buffer
  /** Concurrent writers; default: one. */
  readonly writers?: number
  /** Other work to start with every change and to await. */
  readonly alongside?: (counter: number) => Promise<unknown>
}

/** One side: sends changes, waits for responses, and at the end of a round for all frames. */
export async function watchSide({ served, stream, change, writers = 1, alongside }: WatchSideOptions): Promise<Side & { close(): void }> {
  const openWatchers = await Watchers.open(served, stream)
  const connections = await Promise.all(Array.from({ length: writers }, () => Connection.open(served)))
  let counter = 0
  const run = async (durationMs: number): Promise<Cost> => {
    const begin = performance.now()
    const cpuBefore = cpuMicroseconds(served.pid)
    const framesBefore = openWatchers.frames
    let changes = 0
    const write = async (connection: Connection, writer: number): Promise<void> => {
      for (; performance.now() - begin < durationMs; changes++) {
        await openWatchers.until(framesBefore + (changes - maxAhead) * watcherCount)
        const number = counter++
        await Promise.all([connection.exchange(change(number, writer)), alongside?.(number)])
      }
    }
    await Promise.all(connections.map(write))
    await openWatchers.until(framesBefore + changes * watcherCount)
    const delivered = changes * watcherCount
    const seconds = (performance.now() - begin) / 1000
    return {
      requests: delivered,
      cpuMicrosecondsEach: (cpuMicroseconds(served.pid) - cpuBefore) / delivered,
      perSecond: delivered / seconds,
    }
  }
  const close = (): void => {
    openWatchers.close()
    for (const connection of connections) connection.close()
  }
  return { run, close }
}

/**
 * With 200 watchers there are about 150 writes per second, too few to optimize the write path.
 * So the write path is warmed up without watchers.
 */
const warmUpMs = 8000

export async function warmWrites(lab: Lab, served: Served, change: (counter: number) => Buffer): Promise<void> {
  const generator = await lab.generator(served, 1)
  await generator.run({ durationMs: warmUpMs, next: (_, counter) => change(counter), expect: 200 })
}

/** Path of a watch of a collection, starting now. */
export async function watchPathOf(served: Served, path: string): Promise<string> {
  const list = await fetchOnce(served, { method: 'GET', path })
  const version = /"resourceVersion":"(\d+)"/.exec(list.body.toString('utf8', 0, 300))?.[1]
  return `${path}?watch=1&resourceVersion=${version}`
}

interface WatchWorkload {
  readonly workload: string
  readonly namespace: string
  readonly writers: number
  readonly bar?: number
  /** True: the floor writes each event separately; false: Node.js joins the writes of one event-loop iteration. */
  readonly oneByOne: boolean
}

const workloads: readonly WatchWorkload[] = [
  { workload: '200 watchers, per event', namespace: 'bench-watch', writers: 1, bar: 1.3, oneByOne: false },
  { workload: '200 watchers, 16 writers, per event', namespace: 'bench-watch-16', writers: 16, bar: 0.5, oneByOne: true },
  { workload: '  floor with joined writes', namespace: 'bench-watch-16', writers: 16, oneByOne: false },
]

export async function measureWatch(lab: Lab): Promise<readonly Line[]> {
  const lines: Line[] = []
  for (const workload of workloads) lines.push(await measureWorkload(lab, workload))
  return lines
}

async function measureWorkload(lab: Lab, { workload, namespace, writers, bar, oneByOne }: WatchWorkload): Promise<Line> {
  const { served } = await lab.sharedServer()
  const path = await makeNamespace(served, namespace)
  const nameOf = (writer: number): string => `watched-${writer}`
  const text = (counter: number, writer: number): string =>
    configMapText({ name: nameOf(writer), bytes: 1024, variant: `mark ${counter} ` })
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
  const stream = { path: await watchPathOf(served, path), pattern: jsonFrameEnd }
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
