// Connections to scripted ports of simulated pods: HTTP responses, or bytes over plain TCP.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { isLike, type PortScript } from '../container-scripts.js'
import { memoryConnection } from './memory-connection.js'

const scripts = new WeakMap<Duplex, PortScript>()

/** One server without a port for all simulated pods: its connections are within the process. */
const server: Server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  const found = scripts.get(request.socket)?.http?.find((script) => isLike(script.path, path))
  const { status = 404, contentType = 'text/plain; charset=utf-8', body = '404 page not found\n' } = found ?? {}
  request.resume()
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
})

/** Returns the client's end of a new connection. */
export function connectTo(script: PortScript): Socket {
  const [client, pod] = memoryConnection()
  if (script.http !== undefined) {
    scripts.set(pod, script)
    server.emit('connection', pod)
    return client
  }
  if (script.send !== '') pod.write(script.send)
  if (script.echoes) pod.pipe(pod)
  else pod.resume().end()
  return client
}
