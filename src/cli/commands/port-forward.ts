// Listens on ports of this machine, and passes what comes on to ports of a pod.

import { createServer, type Server, type Socket } from 'node:net'
import { defineCommand } from '../command.js'
import { explain, Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { podOf } from '../pods.js'
import { writeOn } from '../write-on.js'

export const command = defineCommand({
  usage: 'port-forward (POD | TYPE/NAME) [LOCAL:]REMOTE… [--address=ADDRESS]',
  about: 'pass ports of this machine on to a pod',
  examples: ['port-forward web 8080:80', 'port-forward deployment/shop :5000'],
  flags: { address: { kind: 'list', initial: 'localhost', help: 'where to listen' } },
  run: async ({ args, flags, session, io, signal }) => {
    const [word, ...texts] = args
    const ports = texts.map(readPorts)
    if (ports.length === 0) throw new UsageError('TYPE/NAME and list of ports are required for port-forward')
    const name = (await podOf(word, session)).metadata?.name ?? ''
    const pods = session.client.pods(session.namespace)
    const servers: Server[] = []

    /** A connection to the pod for each connection that comes. */
    const pass = async (socket: Socket, remote: number): Promise<void> => {
      try {
        const forward = await pods.portForward(name, [remote], { signal })
        const [port] = forward.ports
        // Whoever came may have left while the connection was made: no event tells it any more.
        if (port === undefined || socket.destroyed) {
          forward.close()
          socket.destroy()
          return
        }
        socket.on('data', (data) => {
          socket.pause()
          port.write(data).then(
            () => socket.resume(),
            () => socket.destroy(),
          )
        })
        socket.on('close', () => forward.close())
        for await (const data of port.data()) if (!(await writeOn(socket, data))) break
        socket.end()
      } catch (thrown) {
        if (!signal.aborted) io.err(explain(thrown))
        socket.destroy()
      }
    }
    try {
      for (const address of flags.address) {
        for (const { local, remote } of ports) {
          const server = createServer((socket) => {
            socket.on('error', () => socket.destroy())
            io.progress(`Handling connection for ${local || remote}`)
            void pass(socket, remote)
          })
          servers.push(server)
          await listen(server, local, address === 'localhost' ? '127.0.0.1' : address)
          const { port, address: bound } = server.address() as { readonly port: number; readonly address: string }
          io.out(`Forwarding from ${bound.includes(':') ? `[${bound}]` : bound}:${port} -> ${remote}\n`)
        }
      }
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    } finally {
      for (const server of servers) server.close()
    }
    return 0
  },
})

function readPorts(text: string): { readonly local: number; readonly remote: number } {
  const [first = '', second] = text.split(':')
  const remote = Number(second ?? first)
  const local = second === undefined ? remote : first === '' ? 0 : Number(first)
  if (!(remote > 0 && remote < 65_536 && local >= 0 && local < 65_536))
    throw new UsageError(`invalid port format '${text}': LOCAL:REMOTE is expected`)
  return { local, remote }
}

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Failure(`unable to listen on ${host}:${port}: ${error.code === 'EADDRINUSE' ? 'the port is in use' : error.message}`)),
    )
    server.listen(port, host, resolve)
  })
