// What metrics say of API services and of the servers behind them.

import type { Family } from '../http/metrics/exposition.js'
import type { OpenExtensions } from './open-extensions.js'

export function aggregationFamilies({ services, tallies }: Pick<OpenExtensions, 'services' | 'tallies'>): readonly Family[] {
  const { all } = services.current
  const isThere = (name: string): boolean => all.has(name)
  const rowsOf = (counted: Iterable<readonly [string, string, number]>): Family['rows'] =>
    Array.from(counted, ([name, reason, value]) => ({ labels: [name, reason], value }))
  return [
    {
      name: 'aggregator_unavailable_apiservice',
      type: 'gauge',
      help: 'Whether an API service cannot be reached now.',
      labels: ['name'],
      rows: Array.from(all.values(), ({ name, isAvailable, remote }) => ({
        labels: [name],
        value: remote === undefined || isAvailable ? 0 : 1,
      })),
    },
    {
      name: 'aggregator_unavailable_apiservice_total',
      type: 'counter',
      help: 'How often an API service that could be reached could be no longer, by the reason.',
      labels: ['name', 'reason'],
      rows: rowsOf(tallies.timesUnavailable(isThere)),
    },
    {
      name: 'aggregator_openapi_v2_regeneration_count',
      type: 'counter',
      help: 'How often what is published of the types of an API service has changed.',
      labels: ['apiservice', 'reason'],
      rows: rowsOf(tallies.regenerations(isThere)),
    },
    {
      name: 'aggregator_openapi_v2_regeneration_duration',
      type: 'gauge',
      help: 'How many seconds the last such change took.',
      labels: ['reason'],
      rows: Array.from(tallies.regenerationSeconds, ([reason, value]) => ({ labels: [reason], value })),
    },
  ]
}
