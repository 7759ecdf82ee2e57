// The floor: the least that a Node process must do to serve a workload, in a process of its own. It speaks HTTPS and nothing else.
//
// Three ways to answer, chosen by a message of the parent: the same bytes for everybody; parse, serialise and store durably, in a file or
// in etcd, then answer with what was stored; and frames written to every open stream, each by itself where that is asked for.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { open } from 'lmdb'
import { openEtcd, type Put } from './floor-etcd.js'

export type FloorBehaviour =
  | { readonly kind: 'bytes'; readonly status: number; readonly headers: readonly string[]; readonly body: string }
  | StoreBehaviour
  | {
      readonly kind: 'frames'
      readonly headers: readonly string[]
      readonly frame: string
      readonly body: string
      /** The next frame of a stream waits until the last one is with the system; otherwise Node joins what waits for a connection. */
      readonly oneByOne?: boolean
    }

interface StoreBehaviour {
  readonly kind: 'store'
  readonly status: number
  readonly headers: readonly string[]
  readonly metadata: object
  /** Where to store: the address of an etcd, or left out for the floor's own file. */
  readonly etcd?: string
}

export interface FloorStart {
  readonly cert: string
  readonly key: string
  readonly storePath: string
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function behave(behaviour: FloorBehaviour, store: ReturnType<typeof openStore>): Promise<Answer> {
  switch (behaviour.kind) {
    case 'bytes': {
      const body = Buffer.from(behaviour.body, 'base64')
      return (_request, response) => {
        response.writeHead(behaviour.status, [...behaviour.headers, 'Content-Length', String(body.length)])
        response.end(body)
      }
    }
    case 'store': {
      const put: Put = behaviour.etcd === undefined ? (name, bytes) => store.put(name, bytes) : openEtcd(behaviour.etcd).put
      return (request, response) => void storeAndAnswer(behaviour, put, { request, response }).catch(() => response.destroy())
    }
    case 'frames':
      return announce(behaviour)
  }
}

/** One file, one table, synced before a put resolves; the puts of one turn of the event loop share one commit. */
function openStore(path: string) {
  return open<Buffer, string>({ path, encoding: 'binary', overlappingSync: false, mapSize: 8 * 2 ** 30 })
}

async function storeAndAnswer(
  { status, headers, metadata }: StoreBehaviour,
  put: Put,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const object = JSON.parse((await bodyOf(request)).toString()) as { metadata: { name: string } }
  const bytes = Buffer.from(JSON.stringify({ ...object, metadata: { ...object.metadata, ...metadata } }))
  await put(object.metadata.name, bytes)
  response.writeHead(status, [...headers, 'Content-Length', String(bytes.length)])
  response.end(bytes)
}

/** Reading a body by iteration would pause the connection now and then, and a bare server does not do that. */
function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
  })
}

/** A GET opens a stream; any other request writes the frame to all streams and is then answered. */
function announce({ headers, frame, body, oneByOne = false }: Extract<FloorBehaviour, { kind: 'frames' }>): Answer {
  const frameBytes = Buffer.from(frame, 'base64')
  const bodyBytes = Buffer.from(body, 'base64')
  const streams = new Set<ServerResponse>()
  const waiting = new Map<ServerResponse, number>()
  const writeNext = (stream: ServerResponse): void => {
    const left = (waiting.get(stream) ?? 0) - 1
    waiting.set(stream, left)
    if (left > 0) stream.write(frameBytes, () => writeNext(stream))
  }
  const writeAlone = (stream: ServerResponse): void => {
    const before = waiting.get(stream) ?? 0
    waiting.set(stream, before + 1)
    if (before === 0) stream.write(frameBytes, () => writeNext(stream))
  }
  const write = oneByOne ? writeAlone : (stream: ServerResponse): void => void stream.write(frameBytes)
  return (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, [...headers])
      response.flushHeaders()
      streams.add(response)
      response.on('close', () => {
        streams.delete(response)
        waiting.delete(response)
      })
      return
    }
    request.resume()
    request.on('end', () => {
      for (const stream of streams) write(stream)
      response.writeHead(200, [...headers, 'Content-Length', String(bodyBytes.length)])
      response.end(bodyBytes)
    })
  }
}

/**
 * Node 20 hangs up with HPE_PAUSED on a client whose next request has a long body and arrives before the last answer counts as written.
 * With room for a whole answer that does not happen.
 */
function roomToWrite(socket: TLSSocket): void {
  const { _writableState: state } = socket as unknown as { readonly _writableState: { highWaterMark: number } }
  state.highWaterMark = 8 * 2 ** 20
}

function main({ cert, key, storePath }: FloorStart): void {
  const store = openStore(storePath)
  let answer: Answer = (_request, response) => response.end()
  const server = createServer({ cert, key, noDelay: true, keepAliveTimeout: 90_000 }, (request, response) => answer(request, response))
  server.prependListener('secureConnection', roomToWrite)
  process.on('message', async (behaviour: FloorBehaviour) => {
    answer = await behave(behaviour, store)
    process.send?.('ready')
  })
  process.on('disconnect', () => process.exit(0))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

main(JSON.parse(process.argv[2] ?? '{}') as FloorStart)
