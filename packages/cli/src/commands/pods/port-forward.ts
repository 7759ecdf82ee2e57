// Listens on ports of this machine, and passes what comes on to ports of a pod.

import { createServer, type Server, type Socket } from 'node:net'
import type { Pod, Service } from '../../client/typed/types.js'
import { defineCommand } from '../command.js'
import { explain, Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { podFlags, podOf } from '../pods.js'
import type { Session } from '../session.js'
import { oneNamed } from '../targets.js'
import { writeOn } from '../write-on.js'

export const command = defineCommand({
  usage: 'port-forward (POD | TYPE/NAME) [LOCAL:]REMOTE… [--address=ADDRESS]',
  about: 'pass ports of this machine on to a pod',
  examples: ['port-forward web 8080:80', 'port-forward deployment/shop :5000'],
  flags: { ...podFlags('1m'), address: { kind: 'list', initial: 'localhost', help: 'where to listen' } },
  run: async (work) => {
    const { args, flags, session, io, signal } = work
    const [word, ...texts] = args
    const asked = texts.map(readPorts)
    if (asked.length === 0) throw new UsageError('TYPE/NAME and list of ports are required for port-forward')
    const pod = await podOf(word, work)
    const name = pod.metadata?.name ?? ''
    const service = await serviceOf(word, session)
    const ports = asked.map(({ local, remote: text }) => {
      const { port, target } =
        service === undefined ? { port: portOfPod(pod, text), target: portOfPod(pod, text) } : portOfService(service, pod, text)
      return { local: local ?? port, remote: target }
    })
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
          // Whoever has asked and says no more still waits for the answer.
          const server = createServer({ allowHalfOpen: true }, (socket) => {
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

/** The port of the pod may have a name; without a local one it is the same here. */
function readPorts(text: string): { readonly local: number | undefined; readonly remote: string } {
  const [first = '', second] = text.split(':')
  const remote = second ?? first
  const local = second === undefined ? undefined : Number(first)
  const isRemote = /^\d+$/.test(remote) ? Number(remote) > 0 && Number(remote) < 65_536 : /^[a-z0-9-]+$/.test(remote)
  if (!isRemote || !(local === undefined || (local >= 0 && local < 65_536)))
    throw new UsageError(`invalid port format '${text}': LOCAL:REMOTE is expected`)
  return { local, remote }
}

async function serviceOf(word: string | undefined, session: Session): Promise<Service | undefined> {
  if (word === undefined || !word.includes('/')) return undefined
  const { resource, collection, name } = await oneNamed([word], { session })
  return resource.kind === 'Service' ? ((await collection.get(name)) as Service) : undefined
}

function portOfPod({ spec, metadata }: Pod, text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  const found = (spec?.containers ?? []).flatMap(({ ports }) => ports ?? []).find(({ name }) => name === text)?.containerPort
  if (found === undefined) throw new Failure(`Pod '${metadata?.name}' does not have a named port '${text}'`)
  return found
}

/** Of the service, and that of the pod which it leads to. */
function portOfService({ spec, metadata }: Service, pod: Pod, text: string): { readonly port: number; readonly target: number } {
  const found = (spec?.ports ?? []).find(({ port, name }) => String(port) === text || name === text)
  if (found?.port === undefined) throw new Failure(`Service ${metadata?.name} does not have a service port ${text}`)
  const { port, targetPort = port } = found
  return { port, target: spec?.clusterIP === 'None' ? port : portOfPod(pod, String(targetPort || port)) }
}

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Failure(`unable to listen on ${host}:${port}: ${error.code === 'EADDRINUSE' ? 'the port is in use' : error.message}`)),
    )
    server.listen(port, host, resolve)
  })
