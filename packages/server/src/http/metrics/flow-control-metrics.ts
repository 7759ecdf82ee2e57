// What flow control counts, as families of metrics under the names of the reference.

import type { Family, Row } from '../metrics/exposition.js'
import type { FlowTally } from './flow.js'
import type { FlowControl } from './flow-control.js'
import type { PriorityLevel } from './priority-level.js'

const prefix = 'apiserver_flowcontrol_'
const byFlow = ['flow_schema', 'priority_level']

export function flowFamilies({ config }: FlowControl, tallies: Iterable<FlowTally>): readonly Family[] {
  const all = [...tallies]
  const limited = [...config.levels.values()].filter(({ isExempt, nominal }) => !isExempt && Number.isFinite(nominal))
  const ofFlow = (type: Family['type'], name: string, help: string, read: (tally: FlowTally) => Row['value']): Family => ({
    name: prefix + name,
    type,
    help,
    labels: byFlow,
    rows: all.map((tally) => ({ labels: [tally.schema, tally.level], value: read(tally) })),
  })
  const ofLevel = (name: string, help: string, read: (level: PriorityLevel) => number): Family => ({
    name: prefix + name,
    type: 'gauge',
    help,
    labels: ['priority_level'],
    rows: limited.map((level) => ({ labels: [level.name], value: read(level) })),
  })
  return [
    ofFlow('counter', 'dispatched_requests_total', 'Requests that were begun.', ({ dispatched }) => dispatched),
    {
      name: `${prefix}rejected_requests_total`,
      type: 'counter',
      help: 'Requests that were refused for want of room, and why.',
      labels: [...byFlow, 'reason'],
      rows: all.flatMap(({ schema, level, rejected }) =>
        Array.from(rejected, ([reason, value]) => ({ labels: [schema, level, reason], value })),
      ),
    },
    ofFlow('gauge', 'current_inqueue_requests', 'Requests that wait.', ({ waiting }) => waiting),
    ofFlow('gauge', 'current_executing_requests', 'Requests that are being answered.', ({ executing }) => executing),
    ofFlow('gauge', 'request_concurrency_in_use', 'Seats of requests that are being answered.', ({ seatsInUse }) => seatsInUse),
    ofLevel('request_concurrency_limit', 'Seats that a priority level has.', ({ nominal }) => nominal),
    ofLevel('nominal_limit_seats', 'Seats that a priority level has of its own.', ({ nominal }) => nominal),
    ofLevel('lower_limit_seats', 'Seats that a priority level never lends.', ({ nominal, lendable }) => nominal - lendable),
    {
      name: `${prefix}request_wait_duration_seconds`,
      type: 'histogram',
      help: 'How long requests waited, and whether they were begun then.',
      labels: ['execute', ...byFlow],
      rows: all.flatMap(({ schema, level, waits, refusedWaits }) => [
        { labels: ['true', schema, level], value: waits },
        ...(refusedWaits.changes === 0 ? [] : [{ labels: ['false', schema, level], value: refusedWaits }]),
      ]),
    },
    ofFlow(
      'histogram',
      'request_execution_duration_seconds',
      'How long requests took once they were begun.',
      ({ executions }) => executions,
    ),
  ]
}
