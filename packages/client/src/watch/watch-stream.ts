// Single watch request: reads JSON lines and yields the events of each chunk as a batch.

import type { OptionNames } from '@cluster-apiserver/api/base/unknown-options.js'
import { ProtocolError, type StatusBody, StatusError } from '../errors.js'
import type { WatchEvent } from '../objects/objects.js'
import { type RequestOptions, requestNames, type SelectOptions, selectNames } from '../requests/request-options.js'
import type { ApiRequest, Requester } from '../requests/requester.js'
import { ByteBuffer, decodeText } from '../transport/byte-buffer.js'
import { readEvent } from './watch-event.js'

export interface RawWatchOptions extends RequestOptions, SelectOptions {
  readonly resourceVersion?: string
  /** Seconds after which the server ends the watch. */
  readonly timeoutSeconds?: number
}

export const openWatchNames: OptionNames<RawWatchOptions> = { ...selectNames, resourceVersion: true, timeoutSeconds: true, ...requestNames }

const maxEventBytes = 64 * 1024 * 1024

export async function openWatch<T>(
  requester: Requester,
  request: ApiRequest,
  { resourceVersion, timeoutSeconds, signal }: RawWatchOptions,
): Promise<AsyncIterable<readonly WatchEvent<T>[]>> {
  const query = { ...request.query, watch: 'true', allowWatchBookmarks: 'true', resourceVersion, timeoutSeconds }
  const response = await requester.send({ ...request, query }, signal)
  return readEvents<T>(response.chunks())
}

/** Throws a StatusError for an ERROR event after yielding the events before it. */
export async function* readEvents<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const partialLine = new ByteBuffer(maxEventBytes)
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed)
    append(partialLine, chunk.subarray(0, end + 1))
    if (end >= 0) {
      const bytes = partialLine.bytes.subarray(0, partialLine.length - 1)
      partialLine.length = 0
      const events = readLines<T>(bytes)
      const errorIndex = events.findIndex(({ type }) => (type as string) === 'ERROR')
      if (errorIndex !== 0) yield errorIndex < 0 ? events : events.slice(0, errorIndex)
      if (errorIndex >= 0) throw new StatusError(events[errorIndex]?.object as StatusBody)
    }
    append(partialLine, chunk.subarray(end + 1))
  }
}

const lineFeed = 10

function append(partialLine: ByteBuffer, part: Uint8Array): void {
  try {
    partialLine.append(part)
  } catch (cause) {
    throw new ProtocolError(`an event of the watch is longer than ${maxEventBytes} bytes`, { cause })
  }
}

/** Decodes short parts: an unparsed event keeps the text of its whole part in memory. */
function readLines<T>(bytes: Uint8Array): readonly WatchEvent<T>[] {
  const events: WatchEvent<T>[] = []
  for (let from = 0; from <= bytes.length; ) {
    const to = endOfPart(bytes, from)
    for (const line of decodeText(bytes.subarray(from, to)).split('\n')) events.push(readEvent(line))
    from = to + 1
  }
  return events
}

const maxPartBytes = 32 * 1024

function endOfPart(bytes: Uint8Array, from: number): number {
  if (bytes.length - from <= maxPartBytes) return bytes.length
  const last = bytes.lastIndexOf(lineFeed, from + maxPartBytes)
  if (last >= from) return last
  const next = bytes.indexOf(lineFeed, from + maxPartBytes)
  return next < 0 ? bytes.length : next
}
