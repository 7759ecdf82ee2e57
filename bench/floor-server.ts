// The floor: the minimum that a Node.js process must do to serve a workload, as a separate HTTPS server.
//
// Three behaviours, selected by a message of the parent: a fixed response; parse, serialize and store durably in a file or in etcd, then
// respond with the stored object; write a frame to every open stream, one by one if requested.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setDefaultHighWaterMark } from 'node:stream'
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
      /** Waits until the last frame is flushed before the next one; otherwise Node.js joins the pending writes of a stream. */
      readonly oneByOne?: boolean
    }

interface StoreBehaviour {
  readonly kind: 'store'
  readonly status: number
  readonly headers: readonly string[]
  readonly metadata: object
  /** Endpoint of an etcd; undefined: objects are stored in the file at `storePath`. */
  readonly etcd?: string
}

export interface FloorStart {
  readonly cert: string
  readonly key: string
  readonly storePath: string
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

async function handlerFor(behaviour: FloorBehaviour, store: ReturnType<typeof openStore>): Promise<Handler> {
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
      return (request, response) => void storeAndRespond(behaviour, put, { request, response }).catch(() => response.destroy())
    }
    case 'frames':
      return serveStreams(behaviour)
  }
}

/** One file, one table, synced before a put resolves; puts of one event-loop iteration share a commit. */
function openStore(path: string) {
  return open<Buffer, string>({ path, encoding: 'binary', overlappingSync: false, mapSize: 8 * 2 ** 30 })
}

async function storeAndRespond(
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

/** Iterating over the body would pause the connection, which a bare server does not do. */
function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
  })
}

/** GET opens a stream; other requests write the frame to all streams before the response. */
function serveStreams({ headers, frame, body, oneByOne = false }: Extract<FloorBehaviour, { kind: 'frames' }>): Handler {
  const frameBytes = Buffer.from(frame, 'base64')
  const bodyBytes = Buffer.from(body, 'base64')
  const streams = new Set<ServerResponse>()
  const pendingFrames = new Map<ServerResponse, number>()
  const writeNext = (stream: ServerResponse): void => {
    const left = (pendingFrames.get(stream) ?? 0) - 1
    pendingFrames.set(stream, left)
    if (left > 0) stream.write(frameBytes, () => writeNext(stream))
  }
  const writeOneByOne = (stream: ServerResponse): void => {
    const before = pendingFrames.get(stream) ?? 0
    pendingFrames.set(stream, before + 1)
    if (before === 0) stream.write(frameBytes, () => writeNext(stream))
  }
  const write = oneByOne ? writeOneByOne : (stream: ServerResponse): void => void stream.write(frameBytes)
  return (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, [...headers])
      response.flushHeaders()
      streams.add(response)
      response.on('close', () => {
        streams.delete(response)
        pendingFrames.delete(response)
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
 * Node.js 20 closes the connection with HPE_PAUSED if a long body arrives before the last response is written.
 * A high water mark for a whole response prevents that.
 */
const responseHighWaterMark = 8 * 2 ** 20

function main({ cert, key, storePath }: FloorStart): void {
  setDefaultHighWaterMark(false, responseHighWaterMark)
  const store = openStore(storePath)
  let respond: Handler = (_request, response) => response.end()
  const server = createServer({ cert, key, noDelay: true, keepAliveTimeout: 90_000 }, (request, response) => respond(request, response))
  process.on('message', async (behaviour: FloorBehaviour) => {
    respond = await handlerFor(behaviour, store)
    process.send?.('ready')
  })
  process.on('disconnect', () => process.exit(0))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

main(JSON.parse(process.argv[2] ?? '{}') as FloorStart)
