// One watch as it comes over the wire: lines of JSON, each an event; those that came together are handed on together.

import { ProtocolError, type StatusAnswer, StatusError } from './errors.js'
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
export async function* readEvents<T>(chunks: AsyncIterable<string>): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  let kept = ''
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf('\n')
    if (end < 0) {
      kept += chunk
      if (kept.length > longestEvent) throw new ProtocolError('an event of the watch is too long')
      continue
    }
    const lines = kept === '' ? chunk.slice(0, end) : kept + chunk.slice(0, end)
    kept = chunk.slice(end + 1)
    const events = parseLines<T>(lines)
    const failed = events.findIndex(({ type }) => (type as string) === 'ERROR')
    if (failed < 0) yield events
    else {
      if (failed > 0) yield events.slice(0, failed)
      throw new StatusError(events[failed]?.object as StatusAnswer)
    }
  }
}

/** Lines of JSON are one list of JSON with commas for line feeds: texts in JSON have none of their own. */
function parseLines<T>(lines: string): readonly WatchEvent<T>[] {
  try {
    return JSON.parse(`[${lines.replaceAll('\n', ',')}]`) as readonly WatchEvent<T>[]
  } catch (cause) {
    throw new ProtocolError('an event of the watch is no JSON', { cause })
  }
}
