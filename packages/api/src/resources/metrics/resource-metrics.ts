// NodeMetrics and PodMetrics: resource usage, computed on read. Served only for simulated nodes: real nodes need a metrics server.

import { defineComputed } from '../../api/definition/define-virtual.js'
import { nameColumn, textColumn } from '../../api/definition/printer-columns.js'
import { pathSegmentProblems } from '../../api/validation/checks.js'
import { addQuantities, parseQuantity, printQuantity } from '../../schema/quantity.js'
import { type NodeMetrics, nodeMetrics as nodeSchema, type PodMetrics, podMetrics as podSchema } from './v1beta1.schema.js'

type Usage = { readonly [resource: string]: string }

/** Sum of each resource. */
export function sumUsage(usages: readonly Usage[]): Usage {
  const sum = new Map<string, string>()
  for (const usage of usages)
    for (const [resource, text] of Object.entries(usage)) {
      const before = sum.get(resource)
      sum.set(resource, before === undefined ? text : printQuantity(addQuantities(parseQuantity(before), parseQuantity(text))))
    }
  return Object.fromEntries(sum)
}

const columns = [
  nameColumn,
  textColumn('Cpu', 'CPU usage.'),
  textColumn('Memory', 'Memory usage.'),
  textColumn('Window', 'Time in which the usage was measured.'),
]
const cellsOf = (name: string | undefined, { cpu = '0', memory = '0' }: Usage, window: string | undefined) => [
  name ?? '',
  cpu,
  memory,
  window ?? '',
]

const nodeMetrics = defineComputed('NodeMetrics')<NodeMetrics>({
  group: { stem: 'metrics' },
  resource: 'nodes',
  namespaced: false,
  versions: [{ name: 'v1beta1', schema: nodeSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  table: { columns, cells: ({ metadata, usage = {}, window }) => cellsOf(metadata?.name, usage, window) },
})

const podMetrics = defineComputed('PodMetrics')<PodMetrics>({
  group: { stem: 'metrics' },
  resource: 'pods',
  namespaced: true,
  versions: [{ name: 'v1beta1', schema: podSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  table: {
    columns,
    cells: ({ metadata, containers = [], window }) => cellsOf(metadata?.name, sumUsage(containers.map(({ usage = {} }) => usage)), window),
  },
})

export const metricsDefinitions = [nodeMetrics, podMetrics] as const
