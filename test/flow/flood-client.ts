// A user who sends as much as he can: so many connections, each with the next request as soon as the last is answered. Runs in a thread of its own,
// so that whoever measures beside it is not held up, and counts where that one can look.

import { connect } from 'node:tls'
import { workerData } from 'node:worker_threads'

export interface FloodOrder {
  readonly host: string
  readonly port: number
  readonly ca: string
  readonly token: string
  readonly path: string
  readonly connections: number
  /** Connections, answers, refusals. */
  readonly counters: Int32Array
}

const { host, port, ca, token, path, connections, counters } = workerData as FloodOrder
const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n\r\n`
const headEnd = Buffer.from('\r\n\r\n')

/** A machine that is busy with other things may take longer than a server waits for a handshake: whoever was not let in comes again. */
function flood(): void {
  let isIn = false
  const socket = connect({ host, port, ca }, () => {
    isIn = true
    Atomics.add(counters, 0, 1)
    socket.write(request)
  })
  socket.on('close', () => isIn || setTimeout(flood, 100))
  let pending: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf(headEnd)
      if (end < 0) return
      const head = pending.toString('latin1', 0, end)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (pending.length < end + headEnd.length + length) return
      pending = pending.subarray(end + headEnd.length + length)
      Atomics.add(counters, head.startsWith('HTTP/1.1 200') ? 1 : 2, 1)
      socket.write(request)
    }
  })
  socket.on('error', () => socket.destroy())
}

for (let i = 0; i < connections; i++) flood()
