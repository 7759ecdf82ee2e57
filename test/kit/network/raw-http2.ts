// HTTP/2 frames for clients that open large windows and then do not read.

import type { Access } from '../api-client.js'
import { RawSocket } from './raw-socket.js'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const maxWindow = 0x7fffffff

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** HPACK integer with a prefix of 7 bits. */
function lengthOf(value: number): Buffer {
  if (value < 127) return Buffer.from([value])
  const bytes = [127]
  let rest = value - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

const text = (value: string): Buffer => Buffer.concat([lengthOf(Buffer.byteLength(value)), Buffer.from(value)])

/** Header block without indexing. */
export const headerBlock = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(Object.entries(headers).map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])))

/** Opens a connection with maximum windows, sends GETs, and does not read. */
export async function openUnread(access: Access, path: string, streams: number): Promise<RawSocket> {
  const socket = await RawSocket.open(access, 'h2')
  socket.socket.pause()
  const settings = Buffer.alloc(6)
  settings.writeUInt16BE(4, 0)
  settings.writeUInt32BE(maxWindow, 2)
  const window = Buffer.alloc(4)
  window.writeUInt32BE(maxWindow - 65_535)
  const block = headerBlock({
    ':method': 'GET',
    ':scheme': 'https',
    ':path': path,
    ':authority': 'x',
    authorization: `Bearer ${access.token}`,
  })
  const requests = Array.from({ length: streams }, (_, i) => frame(1, 0x5, 2 * i + 1, block))
  socket.write(Buffer.concat([preface, frame(4, 0, 0, settings), frame(8, 0, 0, window), ...requests]))
  return socket
}
