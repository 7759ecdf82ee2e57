// One watch as it comes over the wire: lines of JSON, each an event; those that came together are handed on together.

import { type DecodeText, decodeText } from './decode-text.js'
import { ProtocolError, type StatusAnswer, StatusError } from './errors.js'
import { GrowingBytes } from './growing-bytes.js'
import type { WatchEvent } from './objects.js'
import type { RequestOptions, SelectOptions } from './query.js'
import type { ApiRequest, Requester } from './requester.js'
import { type EventValue, isEvent, makeEvent, parseEvent, ReadCount, readEvent } from './watch-event.js'

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
  return readEvents<T>(response.chunks(), response.decode)
}

/** Throws a StatusError for an ERROR event, after the events before it. */
export async function* readEvents<T>(
  chunks: AsyncIterable<Uint8Array>,
  decode = decodeText,
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const lines = new LineReader<T>(decode)
  for await (const chunk of chunks) {
    const events = lines.take(chunk)
    if (events.length > 0) yield events
    if (lines.failure !== undefined) throw lines.failure
  }
}

const lineFeed = 10

/** Lines of JSON: texts in it have no line feeds of their own. */
class LineReader<T> {
  /** What the server said last. */
  failure: StatusError | undefined
  private readonly decode: DecodeText
  /** What has come of a line that is not whole. */
  private readonly read = new GrowingBytes(longestEvent)
  /** Of the events that were handed out last. */
  private reads = new ReadCount()
  private count = 0

  constructor(decode: DecodeText) {
    this.decode = decode
  }

  take(chunk: Uint8Array): readonly WatchEvent<T>[] {
    const end = chunk.lastIndexOf(lineFeed)
    if (end < 0) {
      this.keep(chunk)
      return []
    }
    // Who has read most objects of the events before will read these as well, and to parse all of them together is cheaper.
    const isReader = this.reads.value * 2 > this.count
    this.reads = new ReadCount()
    const events: WatchEvent<T>[] = []
    const bytes = this.whole(chunk.subarray(0, end))
    for (let from = 0; from <= bytes.length; ) {
      const to = endOfPart(bytes, from)
      const lines = this.decode(bytes.subarray(from, to)).split('\n')
      if (isReader) parseLines(lines, this.reads, events)
      else for (const line of lines) events.push(readEvent(line, this.reads))
      from = to + 1
    }
    this.count = events.length
    this.read.length = 0
    this.keep(chunk.subarray(end + 1))
    return this.untilError(events)
  }

  /** A server says nothing after an error, and one that does is not believed. */
  private untilError(events: readonly WatchEvent<T>[]): readonly WatchEvent<T>[] {
    for (let i = 0; i < events.length; i++) {
      const { type } = events[i] as WatchEvent<T>
      if (type === 'ADDED' || type === 'MODIFIED' || (type as string) !== 'ERROR') continue
      this.failure = new StatusError(events[i]?.object as StatusAnswer)
      return events.slice(0, i)
    }
    return events
  }

  private whole(end: Uint8Array): Uint8Array {
    if (this.read.length === 0) return end
    this.keep(end)
    return this.read.bytes.subarray(0, this.read.length)
  }

  private keep(part: Uint8Array): void {
    try {
      this.read.append(part)
    } catch (cause) {
      throw new ProtocolError('an event of the watch is too long', { cause })
    }
  }
}

/**
 * Lines are parts of a text, and whoever keeps an event unparsed keeps that: to copy each of them would cost a tenth of a watch. So a text has as
 * many lines as fit into so much, or one that is longer.
 */
const usualPart = 32 * 1024

/** Where the last line ends that belongs to the part that begins here. */
function endOfPart(bytes: Uint8Array, from: number): number {
  if (bytes.length - from <= usualPart) return bytes.length
  const last = bytes.lastIndexOf(lineFeed, from + usualPart)
  if (last >= from) return last
  const next = bytes.indexOf(lineFeed, from + usualPart)
  return next < 0 ? bytes.length : next
}

/**
 * All of them with one call of the parser, which is cheaper than one for each. Where that gives no list of as many events, they are parsed by
 * themselves to tell what is wrong.
 */
function parseLines<T>(lines: readonly string[], reads: ReadCount, events: WatchEvent<T>[]): void {
  const parsed = parseTogether(lines)
  if (parsed !== undefined) for (const { type, object } of parsed) events.push(makeEvent(type, object as T, reads))
  else for (const line of lines) events.push(parseEvent(line, reads))
}

function parseTogether(lines: readonly string[]): readonly EventValue[] | undefined {
  try {
    const parsed = JSON.parse(`[${lines.join()}]`) as readonly unknown[]
    return parsed.length === lines.length && parsed.every(isEvent) ? parsed : undefined
  } catch {
    // It is told by the line.
    return undefined
  }
}
