// What comes on a stream of HTTP/2 in small parts is counted, and kept together while nobody takes it: each frame of one byte would otherwise be kept
// by itself, which takes hundreds of bytes.

import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { GatheredParts } from './gathered-parts.js'
import type { ReadTurns } from './read-turns.js'

const smallBytes = 512
/** So many parts in a row are handed on by themselves. */
const partsByThemselves = 32

/** For a stream on which nothing has come yet. */
export function countHttp2Parts(stream: ServerHttp2Stream, socket: Socket, turns: ReadTurns): void {
  const reading = turns.of(socket)
  const push = stream.push.bind(stream)
  const waiting = new GatheredParts()
  let parts = 0
  let isPlanned = false
  const handOn = (): void => {
    if (waiting.bytes === 0) return
    const whole = waiting.whole()
    waiting.clear()
    if (!stream.destroyed) push(whole)
  }
  const endTurn = (): void => {
    isPlanned = false
    parts = 0
    handOn()
  }
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (Buffer.isBuffer(chunk)) reading.bodyBytes += chunk.length
    if (!Buffer.isBuffer(chunk) || chunk.length >= smallBytes) {
      handOn()
      return push(chunk, encoding)
    }
    turns.count(reading, 1)
    if (!isPlanned) {
      isPlanned = true
      setImmediate(endTurn)
    }
    if (++parts <= partsByThemselves) return push(chunk)
    waiting.add(chunk)
    return stream.readableLength < stream.readableHighWaterMark
  }
}
