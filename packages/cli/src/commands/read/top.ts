// `top`: CPU and memory usage of nodes and pods, from the metrics API.

import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { printDuration } from '@cluster-apiserver/api/base/duration.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Collection } from '@cluster-apiserver/client/collection.js'
import type { ServedResource } from '@cluster-apiserver/client/discovery.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { type FlagTable, UsageError } from '../../command-line/flags.js'
import type { Session } from '../../command-line/session.js'
import { selectFlags } from '../../objects/object-arguments.js'
import { alignRows, type Cell, headerRow } from '../../output/columns.js'
import { parseQuantity } from '../../output/quantities.js'

type Quantities = { readonly [resource: string]: string }

interface NodeMetrics extends DynamicObject {
  readonly usage?: Quantities
}

interface PodMetrics extends DynamicObject {
  readonly containers?: readonly { readonly name?: string; readonly usage?: Quantities }[]
}

interface Usage {
  /** Thousandths of a CPU. */
  readonly cpu: number
  /** Bytes. */
  readonly memory: number
}

const topFlags = {
  selector: selectFlags.selector,
  'sort-by': { kind: 'text', help: 'cpu or memory; default: by name' },
  'no-headers': { kind: 'switch', help: 'omit the header' },
  'use-protocol-buffers': { kind: 'switch', initial: 'true', help: 'accepted for compatibility; no effect' },
} as const satisfies FlagTable

const maxAgeWithoutMetricsMs = 120_000
const bytesPerMebibyte = 2 ** 20

export const topNode = defineCommand({
  usage: 'top node [NODE | -l SELECTOR] [flags]',
  examples: ['top node', 'top node worker-1', 'top node --sort-by=cpu'],
  flags: { ...topFlags, 'show-capacity': { kind: 'switch', help: 'percentages of the capacity, not of the allocatable resources' } },
  run: async ({ args, flags, session, io }) => {
    const { name, select } = checkArguments(args, flags)
    const metrics = await metricsOf<NodeMetrics>('nodes', session, undefined)
    const measured = name === undefined ? (await metrics.list(select)).items : [await metrics.get(name)]
    if (measured.length === 0) throw new CommandError('metrics not available yet')
    const nodes = session.client.collection(await session.resources.find('nodes'), undefined)
    const found = name === undefined ? (await nodes.list(select)).items : [await nodes.get(name)]
    const available = new Map(
      found.map(({ metadata, ...node }) => {
        const status = (node['status'] ?? {}) as { readonly allocatable?: Quantities; readonly capacity?: Quantities }
        return [metadata?.name ?? '', (flags['show-capacity'] ? status.capacity : status.allocatable) ?? {}] as const
      }),
    )
    const rows = sortByUsage(
      measured.map(({ metadata, usage }) => ({ key: metadata?.name ?? '', usage: usageOf([usage]) })),
      flags['sort-by'],
    ).map(({ key, usage }): readonly Cell[] => {
      const limits = available.get(key) ?? {}
      available.delete(key)
      const percent = (used: number, limit: number): readonly string[] => (limit > 0 ? [`${Math.trunc((used / limit) * 100)}%`] : [])
      const limit = usageOf([limits])
      return [key, cpuText(usage), ...percent(usage.cpu, limit.cpu), memoryText(usage), ...percent(usage.memory, limit.memory), '']
    })
    const unmeasured = [...available.keys()].map((key): readonly Cell[] => [key, ...Array(4).fill('<unknown>'), ''])
    const headers = headerRow(['NAME', 'CPU(cores)', 'CPU%', 'MEMORY(bytes)', 'MEMORY%', ''], io.style)
    io.out(alignRows([...(flags['no-headers'] ? [] : [headers]), ...rows, ...unmeasured]))
    return 0
  },
})

export const topPod = defineCommand({
  usage: 'top pod [POD | -l SELECTOR] [flags]',
  examples: ['top pod', 'top pod web --containers', 'top pod -A --sort-by=memory'],
  flags: {
    ...topFlags,
    'field-selector': selectFlags['field-selector'],
    'all-namespaces': selectFlags['all-namespaces'],
    containers: { kind: 'switch', help: 'show the containers of the pods' },
    sum: { kind: 'switch', help: 'show the sum' },
  },
  run: async ({ args, flags, session, io }) => {
    const { name, select } = checkArguments(args, flags)
    const allNamespaces = flags['all-namespaces']
    const namespace = allNamespaces ? undefined : session.namespace
    const metrics = await metricsOf<PodMetrics>('pods', session, namespace)
    const measured = name === undefined ? (await metrics.list(select)).items : [await metrics.get(name)]
    if (measured.length === 0) {
      const pods = session.client.collection(await session.resources.find('pods'), namespace)
      const found = name === undefined ? (await pods.list(select)).items : [await pods.get(name)]
      for (const pod of found) checkAge(pod)
      if (found.length > 0) throw new CommandError('metrics not available yet')
      io.err(allNamespaces ? 'No resources found\n' : `No resources found in ${session.namespace} namespace.\n`)
      return 0
    }
    const pods = sortByUsage(
      measured.map(({ metadata, containers = [] }) => ({
        namespace: metadata?.namespace ?? '',
        key: metadata?.name ?? '',
        containers,
        usage: usageOf(containers.map(({ usage }) => usage)),
      })),
      flags['sort-by'],
      (a, b) => (allNamespaces ? compareText(a.namespace, b.namespace) : 0),
    )
    const cells = (texts: readonly string[], usage: Usage): readonly Cell[] => [...texts, cpuText(usage), memoryText(usage), '']
    const rows = pods.flatMap(({ namespace: podNamespace, key, containers, usage }) => {
      const start = allNamespaces ? [podNamespace] : []
      if (!flags.containers) return [cells([...start, key], usage)]
      const measuredContainers = containers.map((container) => ({ key: container.name ?? '', usage: usageOf([container.usage]) }))
      return sortByUsage(measuredContainers, flags['sort-by']).map((container) => cells([...start, key, container.key], container.usage))
    })
    const firstHeaders = [...(allNamespaces ? ['NAMESPACE'] : []), ...(flags.containers ? ['POD'] : []), 'NAME']
    const headers = headerRow([...firstHeaders, 'CPU(cores)', 'MEMORY(bytes)', ''], io.style)
    const empty = firstHeaders.map(() => '')
    const total = usageOf(pods.flatMap(({ containers }) => containers.map(({ usage }) => usage)))
    const sum = flags.sum ? [[...empty, '________', '________', ''], cells(empty, total)] : []
    io.out(alignRows([...(flags['no-headers'] ? [] : [headers]), ...rows, ...sum]))
    return 0
  },
})

interface TopFlags {
  readonly selector: string | undefined
  readonly 'field-selector'?: string | undefined
  readonly 'sort-by': string | undefined
}

function checkArguments(args: readonly string[], flags: TopFlags) {
  const [name, ...extraArgs] = args
  const { selector, 'field-selector': fieldSelector, 'sort-by': sortBy = '' } = flags
  if (extraArgs.length > 0) throw new UsageError(`at most one NAME is possible, got ${args.length}`)
  if (sortBy !== '' && sortBy !== 'cpu' && sortBy !== 'memory') throw new UsageError('--sort-by accepts only cpu or memory')
  if (name !== undefined && (selector !== undefined || fieldSelector !== undefined))
    throw new UsageError('only one of NAME or selector can be provided')
  const select = {
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }
  return { name, select }
}

/** The metrics API of either identity: an extension server may have group names of the other one. */
async function metricsOf<T extends DynamicObject>(
  resource: 'nodes' | 'pods',
  session: Session,
  namespace: string | undefined,
): Promise<Collection<T>> {
  const groups = identityNames.map((identity) => identityOf(identity).group({ stem: 'metrics' }))
  const isMetrics = (served: ServedResource): boolean =>
    groups.includes(served.group) && served.version === 'v1beta1' && served.resource === resource
  const found = (await session.resources.all()).resources.find(isMetrics) ?? (await session.resources.refresh()).resources.find(isMetrics)
  if (found === undefined) throw new CommandError('Metrics API not available')
  return session.client.collection<T>(found, namespace)
}

function checkAge({ metadata }: DynamicObject): void {
  const ageMs = Date.now() - Date.parse(metadata?.creationTimestamp ?? '')
  if (ageMs > maxAgeWithoutMetricsMs)
    throw new CommandError(
      `Metrics not available for pod ${metadata?.namespace}/${metadata?.name}, age: ${printDuration(BigInt(Math.round(ageMs)) * 1_000_000n)}`,
    )
}

/** Sum of usages. Small errors of floating point numbers are rounded away before rounding up. */
function usageOf(usages: readonly (Quantities | undefined)[]): Usage {
  const sum = (resource: string): number => usages.reduce((total, usage) => total + parseQuantity(usage?.[resource] ?? '0'), 0)
  return { cpu: Math.ceil(Number((sum('cpu') * 1000).toFixed(6))), memory: Math.ceil(sum('memory')) }
}

const cpuText = ({ cpu }: Usage): string => `${cpu}m`
const memoryText = ({ memory }: Usage): string => `${Math.trunc(memory / bytesPerMebibyte)}Mi`

/** By name, or by usage with the largest first. */
function sortByUsage<T extends { readonly key: string; readonly usage: Usage }>(
  items: readonly T[],
  sortBy: string | undefined,
  compareFirst: (a: T, b: T) => number = () => 0,
): readonly T[] {
  if (sortBy === 'cpu' || sortBy === 'memory') return items.toSorted((a, b) => b.usage[sortBy] - a.usage[sortBy])
  return items.toSorted((a, b) => compareFirst(a, b) || compareText(a.key, b.key))
}
