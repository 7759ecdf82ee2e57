// The apiserver_flowcontrol_* metrics, under the names of kube-apiserver.

import type { FlowCounter } from '../../flow-control/priority-and-fairness/flow-counters.js'
import type { PriorityAndFairness } from '../../flow-control/priority-and-fairness/priority-and-fairness.js'
import type { PriorityLevel } from '../../flow-control/priority-and-fairness/priority-level.js'
import type { Family, Row } from './prometheus-exposition.js'

const prefix = 'apiserver_flowcontrol_'
const byFlow = ['flow_schema', 'priority_level']

export function flowFamilies({ config }: PriorityAndFairness, counters: Iterable<FlowCounter>): readonly Family[] {
  const all = [...counters]
  const limited = [...config.levels.values()].filter(({ isExempt, nominal }) => !isExempt && Number.isFinite(nominal))
  const ofFlow = (type: Family['type'], name: string, help: string, read: (counter: FlowCounter) => Row['value']): Family => ({
    name: prefix + name,
    type,
    help,
    labels: byFlow,
    rows: all.map((counter) => ({ labels: [counter.schema, counter.level], value: read(counter) })),
  })
  const ofLevel = (name: string, help: string, read: (level: PriorityLevel) => number): Family => ({
    name: prefix + name,
    type: 'gauge',
    help,
    labels: ['priority_level'],
    rows: limited.map((level) => ({ labels: [level.name], value: read(level) })),
  })
  return [
    ofFlow('counter', 'dispatched_requests_total', 'Requests that were dispatched.', ({ dispatched }) => dispatched),
    {
      name: `${prefix}rejected_requests_total`,
      type: 'counter',
      help: 'Requests that were refused, by reason.',
      labels: [...byFlow, 'reason'],
      rows: all.flatMap(({ schema, level, rejected }) =>
        Array.from(rejected, ([reason, value]) => ({ labels: [schema, level, reason], value })),
      ),
    },
    ofFlow('gauge', 'current_inqueue_requests', 'Requests that wait in a queue.', ({ waiting }) => waiting),
    ofFlow('gauge', 'current_executing_requests', 'Requests that are executing.', ({ executing }) => executing),
    ofFlow('gauge', 'request_concurrency_in_use', 'Seats of executing requests.', ({ seatsInUse }) => seatsInUse),
    ofLevel('request_concurrency_limit', 'Seats of a priority level.', ({ nominal }) => nominal),
    ofLevel('nominal_limit_seats', 'Nominal seats of a priority level.', ({ nominal }) => nominal),
    ofLevel('lower_limit_seats', 'Seats that a priority level does not lend.', ({ nominal, lendable }) => nominal - lendable),
    {
      name: `${prefix}request_wait_duration_seconds`,
      type: 'histogram',
      help: 'Wait time of requests, by whether they were executed.',
      labels: ['execute', ...byFlow],
      rows: all.flatMap(({ schema, level, waits, refusedWaits }) => [
        { labels: ['true', schema, level], value: waits },
        ...(refusedWaits.changes === 0 ? [] : [{ labels: ['false', schema, level], value: refusedWaits }]),
      ]),
    },
    ofFlow('histogram', 'request_execution_duration_seconds', 'Execution time of requests.', ({ executions }) => executions),
  ]
}
