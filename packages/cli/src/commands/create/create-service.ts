// `create service`: clusterip, nodeport, loadbalancer, externalname.

import { type Command, type CommandContext, defineCommand } from '../../command-line/command.js'
import { type FlagTable, UsageError } from '../../command-line/flags.js'
import { createAndPrint, createFlags, nameArgument, numberOrText, requireFlag } from '../../objects/create-object.js'

const portFlags = {
  ...createFlags,
  tcp: { kind: 'list', help: 'PORT[:TARGET], such as 80:8080' },
} as const satisfies FlagTable

function portsOf(texts: readonly string[]): readonly object[] {
  return texts.map((text) => {
    const [port = '', target = port, ...extraParts] = text.split(':')
    if (extraParts.length > 0 || !/^\d+$/.test(port) || target === '')
      throw new UsageError(`--tcp takes PORT or PORT:TARGET, not "${text}"`)
    return { name: text.replace(':', '-'), port: Number(port), protocol: 'TCP', targetPort: numberOrText(target) }
  })
}

async function create(
  context: CommandContext<typeof portFlags>,
  spec: { readonly ports: readonly object[]; readonly type: string },
): Promise<number> {
  const name = nameArgument(context.args)
  const labels = { app: name }
  const { ports, ...rest } = spec
  const fullSpec = { ...rest, ...(ports.length === 0 ? {} : { ports }), selector: labels }
  return createAndPrint({ apiVersion: 'v1', kind: 'Service', metadata: { name, labels }, spec: fullSpec }, context)
}

function requiredPorts(texts: readonly string[]): readonly object[] {
  if (texts.length === 0) throw new UsageError('at least one tcp port specifier must be provided')
  return portsOf(texts)
}

export const clusterIp: Command = defineCommand({
  usage: 'create service clusterip NAME --tcp=PORT[:TARGET] [--clusterip=ADDRESS|None]',
  examples: ['create service clusterip web --tcp=80:8080', 'create service clusterip web --clusterip=None'],
  flags: { ...portFlags, clusterip: { kind: 'text', help: 'cluster IP; None: headless' } },
  run: async (context) => {
    const { tcp, clusterip } = context.flags
    const ports = clusterip === 'None' ? portsOf(tcp) : requiredPorts(tcp)
    return create(context, { ...(clusterip === undefined ? {} : { clusterIP: clusterip }), ports, type: 'ClusterIP' })
  },
})

export const nodePort: Command = defineCommand({
  usage: 'create service nodeport NAME --tcp=PORT[:TARGET] [--node-port=PORT]',
  flags: { ...portFlags, 'node-port': { kind: 'number', help: 'port on the nodes' } },
  run: async (context) => {
    const port = context.flags['node-port']
    const ports = requiredPorts(context.flags.tcp).map((servicePort) =>
      port === undefined ? servicePort : { ...servicePort, nodePort: port },
    )
    return create(context, { ports, type: 'NodePort' })
  },
})

export const loadBalancer: Command = defineCommand({
  usage: 'create service loadbalancer NAME --tcp=PORT[:TARGET]',
  flags: portFlags,
  run: async (context) => create(context, { ports: requiredPorts(context.flags.tcp), type: 'LoadBalancer' }),
})

export const externalName: Command = defineCommand({
  usage: 'create service externalname NAME --external-name=HOST [--tcp=PORT[:TARGET]]',
  flags: { ...portFlags, 'external-name': { kind: 'text', help: 'DNS name that the service is an alias of' } },
  run: async (context) => {
    const name = requireFlag('external-name', context.flags['external-name'])
    return create(context, { ...{ externalName: name }, ports: portsOf(context.flags.tcp), type: 'ExternalName' })
  },
})
