// `expose`: creates a service with selector, labels and ports of a Deployment, ReplicaSet, ReplicationController, Pod or Service.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { createFlags, createObject, numberOrText, parseLabels, parsePort } from '../../objects/create-object.js'
import { fileFlags, resolveObjects } from '../../objects/object-arguments.js'
import { printResults, type Result } from '../../objects/write-results.js'

export const command = defineCommand({
  usage: 'expose (TYPE NAME | TYPE/NAME | -f FILE) [--port=PORT] [--target-port=PORT] [--name=NAME] [flags]',
  examples: ['expose deployment web --port=80 --target-port=8080', 'expose pod web --name=front --type=NodePort'],
  flags: {
    ...fileFlags,
    ...createFlags,
    name: { kind: 'text', help: 'name of the service; default: name of the workload' },
    port: { kind: 'text', help: 'service ports: 80,443; default: container ports' },
    'target-port': { kind: 'text', help: 'container port by number or name; default: the service port' },
    protocol: { kind: 'text', help: 'TCP, UDP or SCTP; default: protocol of the container port' },
    type: { kind: 'text', help: 'ClusterIP, NodePort, LoadBalancer or ExternalName' },
    labels: { kind: 'text', short: 'l', help: 'labels of the service: a=b,c=d' },
    selector: { kind: 'text', help: 'pod selector: a=b,c=d' },
    'external-ip': { kind: 'text', help: 'external IP of the service' },
    'load-balancer-ip': { kind: 'text', help: 'IP of the load balancer' },
    'cluster-ip': { kind: 'text', help: 'cluster IP; None: headless' },
    'session-affinity': { kind: 'text', help: 'None or ClientIP' },
  },
  run: async (context) => {
    const { flags, io } = context
    const workloads = await resolveObjects(context.args, { ...flags, selector: undefined }, context)
    const results: Result[] = []
    const code = await forEach(workloads, io, async ({ collection, name }) => {
      const object = await collection.get(name)
      results.push({ ...(await createObject(serviceFor(object), context)), operation: 'exposed' })
    })
    printResults(results, flags, io)
    return code

    function serviceFor(object: DynamicObject): DynamicObject {
      const selector = flags.selector === undefined ? selectorOf(object) : parseLabels(flags.selector)
      const labels = flags.labels === undefined ? object.metadata?.labels : parseLabels(flags.labels)
      const { 'external-ip': externalIp, 'load-balancer-ip': loadBalancerIp, 'cluster-ip': clusterIp, 'session-affinity': affinity } = flags
      const type = flags.type ?? (loadBalancerIp === undefined ? undefined : 'LoadBalancer')
      return {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: flags.name || (object.metadata?.name ?? ''), ...(labels === undefined ? {} : { labels }) },
        spec: {
          ports: portsFor(object),
          selector,
          ...(type === undefined || type === '' ? {} : { type }),
          ...(externalIp === undefined ? {} : { externalIPs: [externalIp] }),
          ...(loadBalancerIp === undefined ? {} : { loadBalancerIP: loadBalancerIp }),
          ...(clusterIp === undefined ? {} : { clusterIP: clusterIp }),
          ...(affinity === undefined ? {} : { sessionAffinity: affinity }),
        },
      }
    }

    function portsFor(object: DynamicObject): readonly object[] {
      const defaultPorts = portsOf(object)
      const ports = flags.port === undefined ? defaultPorts.map(({ port }) => port) : flags.port.split(',').map(parsePort)
      if (ports.length === 0) throw new CommandError("couldn't find port via --port flag or introspection")
      const target = flags['target-port']
      return ports.map((port, i) => ({
        ...(ports.length > 1 ? { name: `port-${i + 1}` } : {}),
        port,
        protocol: flags.protocol ?? defaultPorts.find((candidate) => candidate.port === port)?.protocol ?? 'TCP',
        targetPort: target === undefined ? port : numberOrText(target),
      }))
    }
  },
})

interface Port {
  readonly port: number
  readonly protocol: string
}

interface ExposedSpec {
  readonly selector?: { readonly [name: string]: string } & { readonly matchLabels?: { readonly [name: string]: string } }
  readonly ports?: readonly { readonly port: number; readonly protocol?: string }[]
  readonly template?: { readonly spec?: ExposedSpec }
  readonly containers?: readonly { readonly ports?: readonly { readonly containerPort: number; readonly protocol?: string }[] }[]
}

function selectorOf({ kind, metadata, spec }: DynamicObject): { readonly [name: string]: string } {
  const { selector } = (spec ?? {}) as ExposedSpec
  switch (kind) {
    case 'Deployment':
    case 'ReplicaSet': {
      const { matchLabels, matchExpressions } = (selector ?? {}) as { matchLabels?: Record<string, string>; matchExpressions?: unknown[] }
      if ((matchExpressions ?? []).length > 0)
        throw new CommandError(`its selector has matchExpressions, which services do not support; use --selector`)
      return matchLabels ?? {}
    }
    case 'ReplicationController':
    case 'Service':
      if (selector === undefined) throw new CommandError('invalid service: no selector; use --selector')
      return selector
    case 'Pod':
      if (Object.keys(metadata?.labels ?? {}).length === 0) throw new CommandError('the pod has no labels and cannot be exposed')
      return metadata?.labels ?? {}
    default:
      throw new CommandError(`cannot expose a ${kind}`)
  }
}

function portsOf({ kind, spec }: DynamicObject): readonly Port[] {
  const { ports, template, containers } = (spec ?? {}) as ExposedSpec
  if (kind === 'Service') return (ports ?? []).map(({ port, protocol = 'TCP' }) => ({ port, protocol }))
  return (template?.spec?.containers ?? containers ?? []).flatMap((container) =>
    (container.ports ?? []).map(({ containerPort: port, protocol = 'TCP' }) => ({ port, protocol })),
  )
}
