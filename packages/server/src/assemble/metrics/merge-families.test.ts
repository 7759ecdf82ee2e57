// Metrics of several processes: sums, the greatest value of what is shared, and a label for metrics of a process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import type { Family } from '../../http/metrics/prometheus-exposition.js'
import { mergeFamilies, plainFamilies } from './merge-families.js'

const family = (
  name: string,
  type: Family['type'],
  value: Family['rows'] extends Iterable<infer R> ? (R & { value: unknown })['value'] : never,
) => ({
  name,
  type,
  help: 'h',
  labels: ['l'],
  rows: [{ labels: ['a'], value }],
})

test('counters, histograms and gauges of several processes', () => {
  const histogram = new Histogram([1, 2])
  histogram.add(1.5)
  const of = (value: number): readonly Family[] => [
    family('requests_total', 'counter', value),
    family('inflight', 'gauge', value),
    family('apiserver_storage_objects', 'gauge', 7 + value),
    family('apiserver_validating_admission_policy_definition_total', 'counter', value),
    family('process_cpu_seconds_total', 'counter', value),
    family('seconds', 'histogram', histogram),
  ]
  const sent = JSON.parse(JSON.stringify(plainFamilies(of(2)))) as readonly Family[]
  const merged = mergeFamilies([
    { process: 'worker-1', families: of(1) },
    { process: 'worker-2', families: sent },
  ])
  const rows = Object.fromEntries(merged.map(({ name, rows: [...all] }) => [name, all.map(({ labels, value }) => [...labels, value])]))
  assert.deepEqual(rows, {
    requests_total: [['a', 3]],
    inflight: [['a', 3]],
    apiserver_storage_objects: [['a', 9]],
    apiserver_validating_admission_policy_definition_total: [['a', 2]],
    process_cpu_seconds_total: [
      ['a', 'worker-1', 1],
      ['a', 'worker-2', 2],
    ],
    seconds: [['a', { bounds: [1, 2], counts: [0, 2, 0], sum: 3 }]],
  })
  assert.deepEqual(merged.find(({ name }) => name === 'process_cpu_seconds_total')?.labels, ['l', 'process'])
})
