// Text tables of priority levels, queues and queued requests, for /debug/api_priority_and_fairness/.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { PriorityAndFairness } from './priority-and-fairness.js'
import { type FlowQueue, newQueue, type PriorityLevel } from './priority-level.js'

/** A row of a table. Column names and number formats, with their misspellings, are those that kube-apiserver prints. */
type Row = readonly (string | number | boolean)[]

/** Returns undefined for an unknown dump. `hasDetails`: dump_requests also shows the attributes of each request. */
export function dumpTable({ config }: PriorityAndFairness, name: string, hasDetails: boolean): string | undefined {
  const levels = [...config.levels.values()].sort((a, b) => compareText(a.name, b.name))
  switch (name) {
    case 'dump_priority_levels':
      return table([levelColumns, ...levels.map(levelRow)])
    case 'dump_queues':
      return table([queueColumns, ...levels.flatMap(queueRows)])
    case 'dump_requests':
      return table([
        hasDetails ? [...requestColumns, ...detailColumns] : requestColumns,
        ...levels.flatMap((level) => requestRows(level, hasDetails)),
      ])
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

/** Levels with more queues than this print only the queues in use. */
const maxShownQueues = 1000

function queuesOf({ queues, queueCount }: PriorityLevel): readonly FlowQueue[] {
  if (queueCount > maxShownQueues) return byIndex(queues)
  return Array.from({ length: queueCount }, (_, index) => queues.get(index) ?? newQueue(index, 0))
}

const byIndex = (queues: PriorityLevel['queues']): readonly FlowQueue[] => [...queues.values()].sort((a, b) => a.index - b.index)

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
  byIndex(level.queues).flatMap(({ index, waiting }) =>
    waiting.map(({ request, flowSchema, distinguisher, seats }, i) => {
      const { info, user, now } = request
      const row = [level.name, flowSchema.name, index, i, distinguisher, timeOf(now), seats, 0, '0s']
      if (!hasDetails) return row
      const version = info.group === '' ? info.version : `${info.group}/${info.version}`
      return [...row, user.name, info.verb, info.path, info.namespace, info.name, version, info.resource, info.subresource]
    }),
  )

function table(rows: readonly Row[]): string {
  const widths: number[] = []
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? minWidth, String(cell).length + 2)
  return rows
    .map((row) => `${row.map((cell, i) => (i === row.length - 1 ? String(cell) : `${cell},`.padEnd(widths[i] ?? 0))).join('')}\n`)
    .join('')
}

const minWidth = 8
