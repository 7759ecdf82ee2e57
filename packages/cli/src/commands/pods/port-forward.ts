// `port-forward`: listens on local ports and forwards connections to a pod.

import { createServer, type Server, type Socket } from 'node:net'
import type { Pod, Service } from '@cluster-apiserver/client/typed/types.js'
import { writeDrained } from '../../command-line/backpressure.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError, explain } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import type { Session } from '../../command-line/session.js'
import { findPod, podFlags } from '../../objects/find-pod.js'
import { resolveOne } from '../../objects/object-arguments.js'

export const command = defineCommand({
  usage: 'port-forward (POD | TYPE/NAME) [LOCAL:]REMOTE… [--address=ADDRESS]',
  examples: ['port-forward web 8080:80', 'port-forward deployment/shop :5000'],
  flags: { ...podFlags('1m'), address: { kind: 'list', initial: 'localhost', help: 'addresses to listen on' } },
  run: async (context) => {
    const { args, flags, session, io, signal } = context
    const [podArgument, ...texts] = args
    const requestedPorts = texts.map(readPorts)
    if (requestedPorts.length === 0) throw new UsageError('TYPE/NAME and list of ports are required for port-forward')
    const pod = await findPod(podArgument, context)
    const name = pod.metadata?.name ?? ''
    const service = await serviceOf(podArgument, session)
    const ports = requestedPorts.map(({ local, remote: text }) => {
      const { port, target } =
        service === undefined ? { port: portOfPod(pod, text), target: portOfPod(pod, text) } : portOfService(service, pod, text)
      return { local: local ?? port, remote: target }
    })
    const pods = session.client.pods(session.namespace)
    const servers: Server[] = []

    const forwardConnection = async (socket: Socket, remote: number): Promise<void> => {
      try {
        const forward = await pods.portForward(name, [remote], { signal })
        const [port] = forward.ports
        // The local client may have disconnected before the 'close' listener was added.
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
        for await (const data of port.data()) if (!(await writeDrained(socket, data))) break
        socket.end()
      } catch (thrown) {
        if (!signal.aborted) io.err(explain(thrown))
        socket.destroy()
      }
    }
    try {
      for (const address of flags.address) {
        for (const { local, remote } of ports) {
          // A client that closed its sending side still waits for the response.
          const server = createServer({ allowHalfOpen: true }, (socket) => {
            socket.on('error', () => socket.destroy())
            io.progress(`Handling connection for ${local || remote}`)
            void forwardConnection(socket, remote)
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

function readPorts(text: string): { readonly local: number | undefined; readonly remote: string } {
  const [first = '', second] = text.split(':')
  const remote = second ?? first
  const local = second === undefined ? undefined : Number(first)
  const isRemote = /^\d+$/.test(remote) ? Number(remote) > 0 && Number(remote) < 65_536 : /^[a-z0-9-]+$/.test(remote)
  if (!isRemote || !(local === undefined || (local >= 0 && local < 65_536)))
    throw new UsageError(`invalid port format '${text}': must be [LOCAL:]REMOTE`)
  return { local, remote }
}

async function serviceOf(podArgument: string | undefined, session: Session): Promise<Service | undefined> {
  if (podArgument === undefined || !podArgument.includes('/')) return undefined
  const { resource, collection, name } = await resolveOne([podArgument], { session })
  return resource.kind === 'Service' ? ((await collection.get(name)) as Service) : undefined
}

function portOfPod({ spec, metadata }: Pod, text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  const found = (spec?.containers ?? []).flatMap(({ ports }) => ports ?? []).find(({ name }) => name === text)?.containerPort
  if (found === undefined) throw new CommandError(`Pod '${metadata?.name}' does not have a named port '${text}'`)
  return found
}

function portOfService({ spec, metadata }: Service, pod: Pod, text: string): { readonly port: number; readonly target: number } {
  const found = (spec?.ports ?? []).find(({ port, name }) => String(port) === text || name === text)
  if (found?.port === undefined) throw new CommandError(`Service ${metadata?.name} does not have a service port ${text}`)
  const { port, targetPort = port } = found
  return { port, target: spec?.clusterIP === 'None' ? port : portOfPod(pod, String(targetPort || port)) }
}

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new CommandError(`unable to listen on ${host}:${port}: ${error.code === 'EADDRINUSE' ? 'the port is in use' : error.message}`),
      ),
    )
    server.listen(port, host, resolve)
  })
