// One watch as it comes over the wire: lines of JSON, each an event; those that came together are handed on together.

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
    const failed = events.findIndex(({ type }) => (type as string) === 'ERROR')
    if (failed < 0) yield events
    else {
      if (failed > 0) yield events.slice(0, failed)
      throw new StatusError(events[failed]?.object as StatusAnswer)
    }
  }
}

const [lineFeed, comma, openBracket, closeBracket] = [10, 44, 91, 93] as const

/** Lines of JSON are one list of JSON with commas for line feeds: texts in JSON have none of their own. */
class LineReader<T> {
  private readonly decoder = new TextDecoder()
  /** After a bracket, what has come of lines that are not whole. */
  private readonly read = new GrowingBytes(longestEvent)

  constructor() {
    this.read.append(Uint8Array.of(openBracket))
  }

  take(chunk: Uint8Array): readonly WatchEvent<T>[] {
    const end = chunk.lastIndexOf(lineFeed)
    try {
      this.read.append(end < 0 ? chunk : chunk.subarray(0, end + 1))
    } catch (cause) {
      throw new ProtocolError('an event of the watch is too long', { cause })
    }
    if (end < 0) return []
    const { bytes, length } = this.read
    bytes[length - 1] = closeBracket
    const lines = bytes.subarray(0, length)
    for (let at = lines.indexOf(lineFeed); at >= 0; at = lines.indexOf(lineFeed, at + 1)) lines[at] = comma
    const text = this.decoder.decode(lines)
    this.read.length = 1
    this.read.append(chunk.subarray(end + 1))
    try {
      return JSON.parse(text) as readonly WatchEvent<T>[]
    } catch (cause) {
      throw new ProtocolError('an event of the watch is no JSON', { cause })
    }
  }
}
