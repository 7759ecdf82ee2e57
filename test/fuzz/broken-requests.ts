// Malformed HTTP requests as bytes: written by hand, and valid requests with random mutations.

import type { Random } from '../kit/seeded-random.js'

interface BrokenRequest {
  readonly name: string
  readonly bytes: Buffer
  /** True if the server can respond or close at once; otherwise it may wait for more bytes. */
  readonly isComplete: boolean
}

const path = '/api/v1/namespaces/default/configmaps'

/** A valid request, the base of the malformed ones. */
export function validRequest(token: string, body: string | Buffer = '{"metadata":{"generateName":"fuzz-"}}', headers = ''): Buffer {
  const bytes = Buffer.from(body)
  const head = `POST ${path}?dryRun=All HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${bytes.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

export function brokenRequests(token: string): readonly BrokenRequest[] {
  const auth = `Host: x\r\nAuthorization: Bearer ${token}\r\n`
  const post = `POST ${path} HTTP/1.1\r\n${auth}Content-Type: application/json\r\n`
  const rows: readonly (readonly [name: string, text: string | Buffer, isComplete?: false])[] = [
    ['text instead of HTTP', 'hello\r\n\r\n'],
    ['random bytes', Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919) % 256))],
    ['an unknown HTTP version', `GET /livez HTTP/9.9\r\n${auth}\r\n`],
    ['HTTP/0.9', 'GET /livez\r\n\r\n'],
    ['an invalid method', `G@T /livez HTTP/1.1\r\n${auth}\r\n`],
    ['a path with spaces', `GET /li vez HTTP/1.1\r\n${auth}\r\n`],
    ['an absolute URL', `GET http://example.com/livez HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`],
    ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`],
    ['CONNECT', `CONNECT example.com:80 HTTP/1.1\r\n${auth}\r\n`],
    ['an upgrade', `GET /livez HTTP/1.1\r\n${auth}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`],
    ['no Host header', `GET /livez HTTP/1.1\r\n\r\n`],
    ['two Content-Length headers', `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef`],
    ['a negative Content-Length', `${post}Content-Length: -5\r\n\r\nabcde`],
    ['a Content-Length that is not a number', `${post}Content-Length: five\r\n\r\nabcde`],
    ['a Content-Length beyond int64', `${post}Content-Length: 99999999999999999999\r\n\r\nabcde`],
    ['Content-Length and Transfer-Encoding', `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['an unknown transfer encoding', `${post}Transfer-Encoding: shuffled\r\n\r\n0\r\n\r\n`],
    ['a chunk size that is not a number', `${post}Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n`],
    ['a chunk longer than its size', `${post}Transfer-Encoding: chunked\r\n\r\n2\r\nabcdef\r\n0\r\n\r\n`],
    ['a chunk size beyond int64', `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc`],
    ['an incomplete chunk', `${post}Transfer-Encoding: chunked\r\n\r\nff\r\nabc`, false],
    ['a body shorter than Content-Length', `${post}Content-Length: 500\r\n\r\n{"metadata":`, false],
    ['an incomplete header', `GET /livez HTTP/1.1\r\n${auth}X-Long: ${'a'.repeat(1000)}`, false],
    ['a header line without a colon', `GET /livez HTTP/1.1\r\n${auth}this is no header\r\n\r\n`],
    ['a header name with a space', `GET /livez HTTP/1.1\r\n${auth}Bad Name: a\r\n\r\n`],
    ['a header with a NUL byte', `GET /livez HTTP/1.1\r\n${auth}X: a\0b\r\n\r\n`],
    ['a folded header', `GET /livez HTTP/1.1\r\n${auth}X: a\r\n b\r\nConnection: close\r\n\r\n`],
    ['a header of 2 MB', `GET /livez HTTP/1.1\r\n${auth}X: ${'a'.repeat(2_000_000)}\r\n\r\n`],
    ['10,000 headers', `GET /livez HTTP/1.1\r\n${auth}${'X: y\r\n'.repeat(10_000)}Connection: close\r\n\r\n`],
    ['a path of 0.9 MB', `GET /${'a'.repeat(900_000)} HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`],
    ['a smuggled request', `${post}Content-Length: 0\r\nTransfer-Encoding : chunked\r\n\r\nGET /livez HTTP/1.1\r\n\r\n`],
    [
      'invalid UTF-8 in the path',
      Buffer.concat([
        Buffer.from('GET /api/v1/namespaces/'),
        Buffer.from([0xff, 0xfe, 0xc0]),
        Buffer.from(` HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`),
      ]),
    ],
    [
      'an Authorization header of a megabyte',
      `GET /livez HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(900_000)}\r\nConnection: close\r\n\r\n`,
    ],
    ['an empty Authorization header', `GET /api HTTP/1.1\r\nHost: x\r\nAuthorization: \r\nConnection: close\r\n\r\n`],
    ['two Authorization headers', `GET /api HTTP/1.1\r\n${auth}Authorization: Bearer other\r\nConnection: close\r\n\r\n`],
    ['an invalid Accept header', `GET /api HTTP/1.1\r\n${auth}Accept: ;;;,,,q=;/;*\r\nConnection: close\r\n\r\n`],
    [
      'an Accept header of a hundred thousand types',
      `GET /api/v1/namespaces HTTP/1.1\r\n${auth}Accept: ${'a/b,'.repeat(100_000)}*/*\r\nConnection: close\r\n\r\n`,
    ],
    ['a body on GET', `GET /livez HTTP/1.1\r\n${auth}Content-Length: 3\r\nConnection: close\r\n\r\nabc`],
    [
      'a hundred pipelined requests',
      `${`GET /livez HTTP/1.1\r\n${auth}\r\n`.repeat(99)}GET /livez HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`,
    ],
    ['Content-Encoding gzip without gzip', validRequest(token, 'no gzip', 'Content-Encoding: gzip\r\nConnection: close\r\n')],
  ]
  return rows.map(([name, text, isComplete = true]) => ({ name, bytes: Buffer.from(text), isComplete }))
}

/** A valid request with some bytes changed, removed or repeated. */
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
