// Requests that no decent client sends, byte by byte.

import type { Random } from '../kit/seeded-random.js'

export interface BrokenRequest {
  readonly name: string
  readonly bytes: Buffer
  /** True when the server has all it needs to answer or hang up at once; otherwise it may wait for more. */
  readonly isComplete: boolean
}

const path = '/api/v1/namespaces/default/configmaps'

/** A decent request, from which the broken ones are made. */
export function decentRequest(token: string, body: string | Buffer = '{"metadata":{"generateName":"fuzz-"}}', headers = ''): Buffer {
  const bytes = Buffer.from(body)
  const head = `POST ${path}?dryRun=All HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${bytes.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

export function brokenRequests(token: string): readonly BrokenRequest[] {
  const auth = `Host: x\r\nAuthorization: Bearer ${token}\r\n`
  const post = `POST ${path} HTTP/1.1\r\n${auth}Content-Type: application/json\r\n`
  const rows: readonly (readonly [name: string, text: string | Buffer, isComplete?: false])[] = [
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['noise', Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919) % 256))],
    ['an unknown version of HTTP', `GET /livez HTTP/9.9\r\n${auth}\r\n`],
    ['an ancient version of HTTP', 'GET /livez\r\n\r\n'],
    ['a method that is none', `G@T /livez HTTP/1.1\r\n${auth}\r\n`],
    ['a path with spaces', `GET /li vez HTTP/1.1\r\n${auth}\r\n`],
    ['an absolute address', `GET http://example.com/livez HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`],
    ['CONNECT', `CONNECT example.com:80 HTTP/1.1\r\n${auth}\r\n`],
    ['an upgrade', `GET /livez HTTP/1.1\r\n${auth}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`],
    ['no host', `GET /livez HTTP/1.1\r\n\r\n`],
    ['two lengths', `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef`],
    ['a negative length', `${post}Content-Length: -5\r\n\r\nabcde`],
    ['a length that is no number', `${post}Content-Length: five\r\n\r\nabcde`],
    ['a length beyond all numbers', `${post}Content-Length: 99999999999999999999\r\n\r\nabcde`],
    ['a length and chunks', `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['an unknown transfer encoding', `${post}Transfer-Encoding: shuffled\r\n\r\n0\r\n\r\n`],
    ['a chunk size that is no number', `${post}Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n`],
    ['a chunk that is longer than it says', `${post}Transfer-Encoding: chunked\r\n\r\n2\r\nabcdef\r\n0\r\n\r\n`],
    ['a chunk size beyond all numbers', `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc`],
    ['a chunk that never ends', `${post}Transfer-Encoding: chunked\r\n\r\nff\r\nabc`, false],
    ['a body that is shorter than it says', `${post}Content-Length: 500\r\n\r\n{"metadata":`, false],
    ['a header without its end', `GET /livez HTTP/1.1\r\n${auth}X-Long: ${'a'.repeat(1000)}`, false],
    ['a header line that is none', `GET /livez HTTP/1.1\r\n${auth}this is no header\r\n\r\n`],
    ['a header name with a space', `GET /livez HTTP/1.1\r\n${auth}Bad Name: a\r\n\r\n`],
    ['a header with a zero byte', `GET /livez HTTP/1.1\r\n${auth}X: a\0b\r\n\r\n`],
    ['a folded header', `GET /livez HTTP/1.1\r\n${auth}X: a\r\n b\r\nConnection: close\r\n\r\n`],
    ['two million bytes of header', `GET /livez HTTP/1.1\r\n${auth}X: ${'a'.repeat(2_000_000)}\r\n\r\n`],
    ['ten thousand headers', `GET /livez HTTP/1.1\r\n${auth}${'X: y\r\n'.repeat(10_000)}Connection: close\r\n\r\n`],
    ['a path of a megabyte', `GET /${'a'.repeat(900_000)} HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`],
    ['a smuggled request', `${post}Content-Length: 0\r\nTransfer-Encoding : chunked\r\n\r\nGET /livez HTTP/1.1\r\n\r\n`],
    [
      'bytes that are no UTF-8 in the path',
      Buffer.concat([
        Buffer.from('GET /api/v1/namespaces/'),
        Buffer.from([0xff, 0xfe, 0xc0]),
        Buffer.from(` HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`),
      ]),
    ],
    [
      'authorization of a megabyte',
      `GET /livez HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(900_000)}\r\nConnection: close\r\n\r\n`,
    ],
    ['authorization that is none', `GET /api HTTP/1.1\r\nHost: x\r\nAuthorization: \r\nConnection: close\r\n\r\n`],
    ['two authorizations', `GET /api HTTP/1.1\r\n${auth}Authorization: Bearer other\r\nConnection: close\r\n\r\n`],
    ['accept of nonsense', `GET /api HTTP/1.1\r\n${auth}Accept: ;;;,,,q=;/;*\r\nConnection: close\r\n\r\n`],
    [
      'accept of a hundred thousand types',
      `GET /api/v1/namespaces HTTP/1.1\r\n${auth}Accept: ${'a/b,'.repeat(100_000)}*/*\r\nConnection: close\r\n\r\n`,
    ],
    ['a body on GET', `GET /livez HTTP/1.1\r\n${auth}Content-Length: 3\r\nConnection: close\r\n\r\nabc`],
    [
      'a hundred requests at once',
      `${`GET /livez HTTP/1.1\r\n${auth}\r\n`.repeat(99)}GET /livez HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`,
    ],
    ['gzip that is none', decentRequest(token, 'no gzip', 'Content-Encoding: gzip\r\nConnection: close\r\n')],
  ]
  return rows.map(([name, text, isComplete = true]) => ({ name, bytes: Buffer.from(text), isComplete }))
}

/** A decent request with some of its bytes changed, left out or repeated. */
export function mutate(request: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(request)
  for (let i = 0; i <= random.below(8); i++) {
    const at = random.below(bytes.length)
    const length = 1 + random.below(20)
    switch (random.below(4)) {
      case 0:
        bytes[at] = random.below(256)
        break
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
        break
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)])
        break
      default:
        bytes = bytes.subarray(0, at + 1)
    }
  }
  return bytes
}
