// HTTP/2 frame by frame, for clients that promise to read everything and then read nothing.

import type { Access } from './api-client.js'
import { RawSocket } from './raw-socket.js'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const mostWindow = 0x7fffffff

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Length or index of HPACK, with a prefix of 7 bits. */
function lengthOf(value: number): Buffer {
  if (value < 127) return Buffer.from([value])
  const bytes = [127]
  let rest = value - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

const text = (value: string): Buffer => Buffer.concat([lengthOf(Buffer.byteLength(value)), Buffer.from(value)])

/** Names and values as they are, without any table. */
export const headerBlock = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(Object.entries(headers).map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])))

/** A connection on which so many GETs are sent, with windows as large as can be; it reads nothing. */
export async function openUnread(access: Access, path: string, streams: number): Promise<RawSocket> {
  const socket = await RawSocket.open(access, 'h2')
  socket.socket.pause()
  const settings = Buffer.alloc(6)
  settings.writeUInt16BE(4, 0)
  settings.writeUInt32BE(mostWindow, 2)
  const window = Buffer.alloc(4)
  window.writeUInt32BE(mostWindow - 65_535)
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
