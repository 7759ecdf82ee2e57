// One watch as it comes over the wire: lines of JSON, each an event; those that came together are handed on together.

import { ProtocolError, type StatusAnswer, StatusError } from './errors.js'
import { GrowingBytes } from './growing-bytes.js'
import type { WatchEvent } from './objects.js'
import type { RequestOptions, SelectOptions } from './query.js'
import type { ApiRequest, Requester } from './requester.js'
import { isEvent, makeEvent, parseEvent, ReadCount, readEvent } from './watch-event.js'

export interface RawWatchOptions extends RequestOptions, SelectOptions {
  readonly resourceVersion?: string
  /** After which the server ends the watch. */
  readonly timeoutSeconds?: number
}

/** What an event may hold at most, so that a server cannot fill our memory. */
const longestEvent = 64 * 1024 * 1024

export async function openWatch<T>(
  requester: Requester,
  request: ApiRequest,
  { resourceVersion, timeoutSeconds, signal }: RawWatchOptions,
): Promise<AsyncIterable<readonly WatchEvent<T>[]>> {
  const query = { ...request.query, watch: 'true', allowWatchBookmarks: 'true', resourceVersion, timeoutSeconds }
  const response = await requester.send({ ...request, query }, signal)
  return readEvents<T>(response.chunks())
}

/** Throws a StatusError for an ERROR event, after the events before it. */
export async function* readEvents<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const lines = new LineReader<T>()
  for await (const chunk of chunks) {
    const events = lines.take(chunk)
    if (events.length === 0) continue
    // A server says nothing after an error, and one that does is not believed.
    const failed = indexOfError(events)
    if (failed < 0) yield events
    else {
      if (failed > 0) yield events.slice(0, failed)
      throw new StatusError(events[failed]?.object as StatusAnswer)
    }
  }
}

function indexOfError(events: readonly WatchEvent<unknown>[]): number {
  for (let i = 0; i < events.length; i++) if ((events[i]?.type as string) === 'ERROR') return i
  return -1
}

const lineFeed = 10

/** Lines of JSON: texts in it have no line feeds of their own. */
class LineReader<T> {
  private readonly decoder = new TextDecoder()
  /** What has come of a line that is not whole. */
  private readonly read = new GrowingBytes(longestEvent)
  /** Of the events that were handed out last. */
  private reads = new ReadCount()
  private count = 0

  take(chunk: Uint8Array): readonly WatchEvent<T>[] {
    const end = chunk.lastIndexOf(lineFeed)
    if (end < 0) {
      this.keep(chunk)
      return []
    }
    // Who has read most objects of the events before will read these as well, and to parse all of them together is cheaper.
    const isReader = this.reads.value * 2 > this.count
    this.reads = new ReadCount()
    const events = isReader ? this.parse(chunk, end) : this.split(chunk, end)
    this.count = events.length
    this.read.length = 0
    this.keep(chunk.subarray(end + 1))
    return events
  }

  /** Each with a text of its own, so that who keeps an event does not keep its neighbours. */
  private split(chunk: Uint8Array, end: number): readonly WatchEvent<T>[] {
    const events: WatchEvent<T>[] = []
    const textOf = isBuffer(chunk) ? textOfBuffer : this.textOf
    let from = 0
    if (this.read.length > 0) {
      from = chunk.indexOf(lineFeed) + 1
      this.keep(chunk.subarray(0, from - 1))
      events.push(readEvent(this.decoder.decode(this.read.bytes.subarray(0, this.read.length)), this.reads))
    }
    while (from <= end) {
      const to = chunk.indexOf(lineFeed, from)
      events.push(readEvent(textOf(chunk as NodeBytes, from, to), this.reads))
      from = to + 1
    }
    return events
  }

  private parse(chunk: Uint8Array, end: number): readonly WatchEvent<T>[] {
    let whole = chunk.subarray(0, end)
    if (this.read.length > 0) {
      this.keep(whole)
      whole = this.read.bytes.subarray(0, this.read.length)
    }
    return parseLines<T>(this.decoder.decode(whole).split('\n'), this.reads)
  }

  private readonly textOf = (chunk: Uint8Array, from: number, to: number): string => this.decoder.decode(chunk.subarray(from, to))

  private keep(part: Uint8Array): void {
    try {
      this.read.append(part)
    } catch (cause) {
      throw new ProtocolError('an event of the watch is too long', { cause })
    }
  }
}

interface NodeBytes extends Uint8Array {
  toString(encoding?: 'utf8', from?: number, to?: number): string
}

/** Node's buffers make a text of a part of them at half the cost. */
const { Buffer: NodeBuffer } = globalThis as { readonly Buffer?: { isBuffer(bytes: Uint8Array): boolean } }
const isBuffer = (bytes: Uint8Array): boolean => NodeBuffer?.isBuffer(bytes) === true
const textOfBuffer = (bytes: NodeBytes, from: number, to: number): string => bytes.toString('utf8', from, to)

/**
 * All of them with one call of the parser, which is cheaper than one for each. How many there are is bounded by what transports hand out at
 * once. Where that is no list of as many values, they are parsed by themselves to tell what is wrong.
 */
function parseLines<T>(lines: readonly string[], reads: ReadCount): readonly WatchEvent<T>[] {
  const events: WatchEvent<T>[] = []
  try {
    const parsed = JSON.parse(`[${lines.join()}]`) as readonly unknown[]
    if (parsed.length === lines.length)
      for (const event of parsed) if (isEvent(event)) events.push(makeEvent(event.type, event.object as T, reads))
  } catch {
    // Told below, by the line.
  }
  return events.length === lines.length ? events : lines.map((line) => parseEvent(line, reads))
}
