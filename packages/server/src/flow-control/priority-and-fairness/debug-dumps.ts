// What flow control holds at a moment, as tables for people: under /debug/api_priority_and_fairness/.

import { readQuery } from '../../api/options/query.js'
import { compareText } from '../../base/text-order.js'
import { timeOf } from '../../schema/scalars.js'
import type { Exchange } from '../exchange.js'
import { sendPlain } from '../respond.js'
import type { FlowControl } from './flow-control.js'
import { type FlowQueue, newQueue, type PriorityLevel } from './priority-level.js'

type Row = readonly (string | number | boolean)[]

/** What stands behind the path; false: nothing. */
export function serveDump(control: FlowControl, exchange: Exchange, name: string): boolean {
  const levels = [...control.config.levels.values()].sort((a, b) => compareText(a.name, b.name))
  const rows = rowsOf(name, levels, exchange)
  if (rows === undefined) return false
  sendPlain(exchange, 200, table(rows))
  return true
}

function rowsOf(name: string, levels: readonly PriorityLevel[], exchange: Exchange): readonly Row[] | undefined {
  switch (name) {
    case 'dump_priority_levels':
      return [levelColumns, ...levels.map(levelRow)]
    case 'dump_queues':
      return [queueColumns, ...levels.flatMap(queueRows)]
    case 'dump_requests': {
      const hasDetails = readQuery(exchange.info.query).first('includeRequestDetails') === '1'
      return [
        hasDetails ? [...requestColumns, ...detailColumns] : requestColumns,
        ...levels.flatMap((level) => requestRows(level, hasDetails)),
      ]
    }
    default:
      return undefined
  }
}

const levelColumns = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
  'DispatchedRequests',
  'RejectedRequests',
  'TimedoutRequests',
  'CancelledRequests',
]

function levelRow(level: PriorityLevel): Row {
  if (level.isExempt) return [level.name, ...levelColumns.slice(1).map(() => '<none>')]
  const { waitingCount, executing, dispatched, refused, timedOut, cancelled } = level
  return [
    level.name,
    level.queues.size,
    executing === 0 && waitingCount === 0,
    false,
    waitingCount,
    executing,
    dispatched,
    refused,
    timedOut,
    cancelled,
  ]
}

const queueColumns = [
  'PriorityLevelName',
  'Index',
  'PendingRequests',
  'ExecutingRequests',
  'SeatsInUse',
  'NextDispatchR',
  'InitialSeatsSum',
  'MaxSeatsSum',
  'TotalWorkSum',
]

/** More than these are shown only as far as they are in use. */
const mostIdleQueues = 1000

function queuesOf({ queues, queueCount }: PriorityLevel): readonly FlowQueue[] {
  if (queueCount > mostIdleQueues) return inOrder(queues)
  return Array.from({ length: queueCount }, (_, index) => queues.get(index) ?? newQueue(index, 0))
}

const inOrder = (queues: PriorityLevel['queues']): readonly FlowQueue[] => [...queues.values()].sort((a, b) => a.index - b.index)

const queueRows = (level: PriorityLevel): readonly Row[] =>
  level.isExempt || level.limited?.queuing === undefined
    ? []
    : queuesOf(level).map(({ index, waiting, executing, seatsInUse, nextStart, seatsWaiting }) => [
        level.name,
        index,
        waiting.length,
        executing,
        seatsInUse,
        `${(nextStart / 1000).toFixed(8)}ss`,
        seatsWaiting,
        seatsWaiting,
        `${(seatsWaiting / 1000).toFixed(8)}ss`,
      ])

const requestColumns = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher',
  'ArriveTime',
  'InitialSeats',
  'FinalSeats',
  'AdditionalLatency',
]
const detailColumns = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource']

const requestRows = (level: PriorityLevel, hasDetails: boolean): readonly Row[] =>
  inOrder(level.queues).flatMap(({ index, waiting }) =>
    waiting.map(({ exchange, flow, distinguisher, seats }, i) => {
      const { info, user, now } = exchange
      const row = [level.name, flow.name, index, i, distinguisher, timeOf(now), seats, 0, '0s']
      if (!hasDetails) return row
      const version = info.group === '' ? info.version : `${info.group}/${info.version}`
      return [...row, user.name, info.verb, info.path, info.namespace, info.name, version, info.resource, info.subresource]
    }),
  )

/** Columns as wide as what stands in them. */
function table(rows: readonly Row[]): string {
  const widths: number[] = []
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? leastWidth, String(cell).length + 2)
  return rows
    .map((row) => `${row.map((cell, i) => (i === row.length - 1 ? String(cell) : `${cell},`.padEnd(widths[i] ?? 0))).join('')}\n`)
    .join('')
}

const leastWidth = 8
