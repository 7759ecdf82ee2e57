// Creates a service: of each of the four sorts that there are.

import { type Command, defineCommand, type Work } from '../command.js'
import { createFlags, createOne, nameIn, needed, numberOrText } from '../create-one.js'
import { type FlagTable, UsageError } from '../flags.js'

const portFlags = {
  ...createFlags,
  tcp: { kind: 'list', help: 'a port, and the one behind it where that is another: 80:8080' },
} as const satisfies FlagTable

function portsOf(texts: readonly string[]): readonly object[] {
  return texts.map((text) => {
    const [port = '', target = port, ...more] = text.split(':')
    if (more.length > 0 || !/^\d+$/.test(port) || target === '') throw new UsageError(`--tcp takes PORT or PORT:TARGET, not "${text}"`)
    return { name: text.replace(':', '-'), port: Number(port), protocol: 'TCP', targetPort: numberOrText(target) }
  })
}

async function create(work: Work<typeof portFlags>, spec: { readonly ports: readonly object[]; readonly type: string }): Promise<number> {
  const name = nameIn(work.args)
  const labels = { app: name }
  const { ports, ...rest } = spec
  const whole = { ...rest, ...(ports.length === 0 ? {} : { ports }), selector: labels }
  return createOne({ apiVersion: 'v1', kind: 'Service', metadata: { name, labels }, spec: whole }, work)
}

function somePorts(texts: readonly string[]): readonly object[] {
  if (texts.length === 0) throw new UsageError('at least one tcp port specifier must be provided')
  return portsOf(texts)
}

export const clusterIp: Command = defineCommand({
  usage: 'create service clusterip NAME --tcp=PORT[:TARGET] [--clusterip=ADDRESS|None]',
  about: 'create a service with an address of its own',
  examples: ['create service clusterip web --tcp=80:8080', 'create service clusterip web --clusterip=None'],
  flags: { ...portFlags, clusterip: { kind: 'text', help: 'its address; None: none' } },
  run: async (work) => {
    const { tcp, clusterip } = work.flags
    const ports = clusterip === 'None' ? portsOf(tcp) : somePorts(tcp)
    return create(work, { ...(clusterip === undefined ? {} : { clusterIP: clusterip }), ports, type: 'ClusterIP' })
  },
})

export const nodePort: Command = defineCommand({
  usage: 'create service nodeport NAME --tcp=PORT[:TARGET] [--node-port=PORT]',
  about: 'create a service with a port on every node',
  flags: { ...portFlags, 'node-port': { kind: 'number', help: 'the port on nodes' } },
  run: async (work) => {
    const port = work.flags['node-port']
    const ports = somePorts(work.flags.tcp).map((one) => (port === undefined ? one : { ...one, nodePort: port }))
    return create(work, { ports, type: 'NodePort' })
  },
})

export const loadBalancer: Command = defineCommand({
  usage: 'create service loadbalancer NAME --tcp=PORT[:TARGET]',
  about: 'create a service behind a load balancer',
  flags: portFlags,
  run: async (work) => create(work, { ports: somePorts(work.flags.tcp), type: 'LoadBalancer' }),
})

export const externalName: Command = defineCommand({
  usage: 'create service externalname NAME --external-name=HOST [--tcp=PORT[:TARGET]]',
  about: 'create a service that stands for a name elsewhere',
  flags: { ...portFlags, 'external-name': { kind: 'text', help: 'the name that it stands for' } },
  run: async (work) => {
    const name = needed('external-name', work.flags['external-name'])
    return create(work, { ...{ externalName: name }, ports: portsOf(work.flags.tcp), type: 'ExternalName' })
  },
})
