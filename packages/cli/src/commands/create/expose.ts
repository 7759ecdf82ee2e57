// Makes a service for what runs: with its labels, and its ports where none are said.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { createFlags, makeOne, numberOrText } from '../create-one.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { labelsIn } from '../label-words.js'
import { type Result, tellResults } from '../results.js'
import { fileFlags, namedOrFiled } from '../targets.js'

export const command = defineCommand({
  usage: 'expose (TYPE NAME | TYPE/NAME | -f FILE) [--port=PORT] [--target-port=PORT] [--name=NAME] [flags]',
  about: 'make a service for pods, or for what makes them',
  examples: ['expose deployment web --port=80 --target-port=8080', 'expose pod web --name=front --type=NodePort'],
  flags: {
    ...fileFlags,
    ...createFlags,
    name: { kind: 'text', help: 'of the service; by default that of what it is for' },
    port: { kind: 'text', help: 'of the service, or several: 80,443' },
    'target-port': { kind: 'text', help: 'of the pods, by its number or name; by default the same' },
    protocol: { kind: 'text', help: 'TCP, UDP or SCTP; by default that of the pods' },
    type: { kind: 'text', help: 'ClusterIP, NodePort, LoadBalancer or ExternalName' },
    labels: { kind: 'text', short: 'l', help: 'of the service: a=b,c=d' },
    selector: { kind: 'text', help: 'the labels of its pods: a=b,c=d' },
    'external-ip': { kind: 'text', help: 'another address at which nodes take what is for it' },
    'load-balancer-ip': { kind: 'text', help: 'the address of the load balancer' },
    'cluster-ip': { kind: 'text', help: 'its address; None: none' },
    'session-affinity': { kind: 'text', help: 'None or ClientIP' },
  },
  run: async (work) => {
    const { flags, io } = work
    const named = await namedOrFiled(work.args, { ...flags, selector: undefined }, work)
    const results: Result[] = []
    const code = await forEach(named, io, async ({ collection, name }) => {
      const object = await collection.get(name)
      results.push({ ...(await makeOne(serviceFor(object), work)), what: 'exposed' })
    })
    tellResults(results, flags, io)
    return code

    function serviceFor(object: DynamicObject): DynamicObject {
      const selector = flags.selector === undefined ? selectorOf(object) : labelsIn(flags.selector)
      const labels = flags.labels === undefined ? object.metadata?.labels : labelsIn(flags.labels)
      const { 'external-ip': outside, 'load-balancer-ip': balancer, 'cluster-ip': own, 'session-affinity': affinity } = flags
      const type = flags.type ?? (balancer === undefined ? undefined : 'LoadBalancer')
      return {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: flags.name || (object.metadata?.name ?? ''), ...(labels === undefined ? {} : { labels }) },
        spec: {
          ports: portsFor(object),
          selector,
          ...(type === undefined || type === '' ? {} : { type }),
          ...(outside === undefined ? {} : { externalIPs: [outside] }),
          ...(balancer === undefined ? {} : { loadBalancerIP: balancer }),
          ...(own === undefined ? {} : { clusterIP: own }),
          ...(affinity === undefined ? {} : { sessionAffinity: affinity }),
        },
      }
    }

    function portsFor(object: DynamicObject): readonly object[] {
      const known = knownPorts(object)
      const ports = flags.port === undefined ? known.map(({ port }) => port) : flags.port.split(',').map(portIn)
      if (ports.length === 0) throw new Failure("couldn't find port via --port flag or introspection")
      const target = flags['target-port']
      return ports.map((port, i) => ({
        ...(ports.length > 1 ? { name: `port-${i + 1}` } : {}),
        port,
        protocol: flags.protocol ?? known.find((one) => one.port === port)?.protocol ?? 'TCP',
        targetPort: target === undefined ? port : numberOrText(target),
      }))
    }
  },
})

interface Port {
  readonly port: number
  readonly protocol: string
}

interface Exposed {
  readonly selector?: { readonly [name: string]: string } & { readonly matchLabels?: { readonly [name: string]: string } }
  readonly ports?: readonly { readonly port: number; readonly protocol?: string }[]
  readonly template?: { readonly spec?: Exposed }
  readonly containers?: readonly { readonly ports?: readonly { readonly containerPort: number; readonly protocol?: string }[] }[]
}

function selectorOf({ kind, metadata, spec }: DynamicObject): { readonly [name: string]: string } {
  const { selector } = (spec ?? {}) as Exposed
  switch (kind) {
    case 'Deployment':
    case 'ReplicaSet': {
      const { matchLabels, matchExpressions } = (selector ?? {}) as { matchLabels?: Record<string, string>; matchExpressions?: unknown[] }
      if ((matchExpressions ?? []).length > 0) throw new Failure(`its selector has expressions, which services do not have: say --selector`)
      return matchLabels ?? {}
    }
    case 'ReplicationController':
    case 'Service':
      if (selector === undefined) throw new Failure('invalid service: no selector; say --selector')
      return selector
    case 'Pod':
      if (Object.keys(metadata?.labels ?? {}).length === 0) throw new Failure('the pod has no labels and cannot be exposed')
      return metadata?.labels ?? {}
    default:
      throw new Failure(`cannot expose a ${kind}`)
  }
}

function knownPorts({ kind, spec }: DynamicObject): readonly Port[] {
  const { ports, template, containers } = (spec ?? {}) as Exposed
  if (kind === 'Service') return (ports ?? []).map(({ port, protocol = 'TCP' }) => ({ port, protocol }))
  return (template?.spec?.containers ?? containers ?? []).flatMap((one) =>
    (one.ports ?? []).map(({ containerPort: port, protocol = 'TCP' }) => ({ port, protocol })),
  )
}

function portIn(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new UsageError(`--port takes numbers, not "${text}"`)
  return Number(text)
}
