// One watch as it comes over the wire: lines of JSON, each an event; those that came together are handed on together.

import { shorten } from '../base/shorten.js'
import { ProtocolError, type StatusAnswer, StatusError } from './errors.js'
import { GrowingBytes } from './growing-bytes.js'
import type { WatchEvent } from './objects.js'
import type { RequestOptions, SelectOptions } from './query.js'
import type { ApiRequest, Requester } from './requester.js'

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

/** Decodes the lines of a chunk together: texts in JSON have no line feeds of their own. */
class LineReader<T> {
  private readonly decoder = new TextDecoder()
  /** What has come of a line that is not whole. */
  private readonly read = new GrowingBytes(longestEvent)

  take(chunk: Uint8Array): readonly WatchEvent<T>[] {
    const end = chunk.lastIndexOf(lineFeed)
    if (end < 0) {
      this.keep(chunk)
      return []
    }
    const text = this.decoder.decode(this.whole(chunk.subarray(0, end)))
    this.read.length = 0
    this.keep(chunk.subarray(end + 1))
    return parseLines<T>(text.split('\n'))
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
 * All of them with one call of the parser, which is cheaper than one for each. How many there are is bounded by what transports hand out at
 * once. Where that is no list of as many values, they are parsed by themselves to tell what is wrong.
 */
function parseLines<T>(lines: readonly string[]): readonly WatchEvent<T>[] {
  try {
    const events = JSON.parse(`[${lines.join()}]`) as readonly WatchEvent<T>[]
    if (events.length === lines.length) return events
  } catch {
    // Told below, by the line.
  }
  return lines.map((line) => {
    try {
      return JSON.parse(line) as WatchEvent<T>
    } catch (cause) {
      throw new ProtocolError(`an event of the watch is no JSON: ${shorten(line, 100)}`, { cause })
    }
  })
}
