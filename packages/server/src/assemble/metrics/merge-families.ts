// Merges the metrics of the processes of --workers: counters, histograms and most gauges are summed, metrics of the process itself get
// a label, and metrics of the shared store or of the settings are the greatest value.

import type { Family, Row } from '../../http/metrics/prometheus-exposition.js'

interface ProcessFamilies {
  /** Value of the label, such as `worker-1`. */
  readonly process: string
  readonly families: readonly Family[]
}

const ofProcess = (name: string): boolean => name.startsWith('process_') || name.startsWith('nodejs_')

/** Metrics that every process reports alike, or that only the primary reports. */
const shared = new Set([
  'aggregator_unavailable_apiservice',
  'apiserver_requested_deprecated_apis',
  'apiserver_storage_db_total_size_in_bytes',
  'apiserver_storage_objects',
  'apiserver_storage_revision',
  'apiserver_validating_admission_policy_definition_total',
  'leader_election_master_status',
])

const isShared = ({ name, type }: Family): boolean =>
  shared.has(name) || (type === 'gauge' && (name.endsWith('_build_info') || name.endsWith('_feature_enabled')))

interface MutableRow {
  readonly labels: readonly string[]
  value: Row['value']
}

export function mergeFamilies(processes: readonly ProcessFamilies[]): readonly Family[] {
  const merged = new Map<string, { readonly family: Family; readonly rows: Map<string, MutableRow> }>()
  for (const { process, families } of processes) {
    for (const family of families) {
      const hasLabel = ofProcess(family.name)
      const { name, labels } = family
      const known = merged.get(name) ?? { family: hasLabel ? { ...family, labels: [...labels, 'process'] } : family, rows: new Map() }
      merged.set(name, known)
      const combine = isShared(family) ? greatest : sum
      for (const row of family.rows) addRow(known.rows, hasLabel ? { ...row, labels: [...row.labels, process] } : row, combine)
    }
  }
  return Array.from(merged.values(), ({ family, rows }) => ({ ...family, rows: [...rows.values()] }))
}

type Combine = (a: Row['value'], b: Row['value']) => Row['value']

function addRow(rows: Map<string, MutableRow>, { labels, value }: Row, combine: Combine): void {
  const key = labels.join('\0')
  const known = rows.get(key)
  if (known === undefined) rows.set(key, { labels, value })
  else known.value = combine(known.value, value)
}

const greatest: Combine = (a, b) => (typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : a)

const sum: Combine = (a, b) => {
  if (typeof a === 'number' || typeof b === 'number') return typeof a === 'number' && typeof b === 'number' ? a + b : a
  return { bounds: a.bounds, counts: a.counts.map((count, i) => count + (b.counts[i] ?? 0)), sum: a.sum + b.sum }
}

/** A copy of arrays and numbers only, which another process can read. */
export const plainFamilies = (families: Iterable<Family>): readonly Family[] =>
  Array.from(families, (family) => ({
    ...family,
    rows: Array.from(family.rows, ({ labels, value }) => ({
      labels,
      value: typeof value === 'number' ? value : { bounds: value.bounds, counts: value.counts, sum: value.sum },
    })),
  }))
