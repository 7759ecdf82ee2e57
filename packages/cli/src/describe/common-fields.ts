// Parts of descriptions that many kinds have: names, labels, owners, conditions, times, selectors.

import { printableLine } from '../../base/printable.js'
import { compareText } from '../../base/text-order.js'
import type { ApiObject } from '../../client/objects.js'
import { ageText } from '../output/age.js'
import { type LabelSelector, selectorQuery } from '../selector-query.js'
import { type Block, type Entry, grid, heading, listOrNone, none, orNone, pairsOf } from './entry.js'

export const nameEntries = ({ metadata = {} }: ApiObject): readonly Entry[] => [
  ['Name', metadata.name ?? ''],
  ['Namespace', metadata.namespace],
]

export const labelEntries = ({ metadata = {} }: ApiObject): readonly Entry[] => [
  ['Labels', pairsOf(metadata.labels)],
  annotationsEntry(metadata.annotations),
]

/** What is longer is cut, and begins in a line of its own. */
const longestAnnotation = 140

export const annotationsEntry = (annotations: { readonly [name: string]: string } | undefined): Entry => [
  'Annotations',
  listOrNone(
    Object.entries(tellingOf(annotations))
      .sort(([a], [b]) => compareText(a, b))
      .flatMap(([name, value]) => {
        const key = printableLine(name)
        const text = value.replace(/\n$/, '')
        if (!text.includes('\n') && text.length + name.length + 2 <= longestAnnotation) return [`${key}: ${text}`]
        return [`${key}:`, ...text.split('\n').map((line) => `  ${shorten(line)}`)]
      }),
  ),
]

const shorten = (line: string): string => (line.length > longestAnnotation - 2 ? `${line.slice(0, longestAnnotation - 2)}...` : line)

/** Without the copy of the whole object that other clients keep there. */
export const tellingOf = (annotations: { readonly [name: string]: string } = {}): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => !name.endsWith('/last-applied-configuration')))

export const createdEntry = ({ metadata }: ApiObject): Entry => ['CreationTimestamp', timeText(metadata?.creationTimestamp)]

/** When it began to go, where it did. */
export const deletionEntries = ({ metadata = {} }: ApiObject): readonly Entry[] => {
  const { deletionTimestamp: at, deletionGracePeriodSeconds: seconds } = metadata
  return at === undefined || at === null
    ? []
    : [
        ['Status', `Terminating (lasts ${ageText(Date.now() - Date.parse(String(at)))})`],
        ['Termination Grace Period', seconds === undefined ? undefined : `${seconds}s`],
      ]
}

export const controllerEntry = ({ metadata }: ApiObject): Entry => {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true)
  return ['Controlled By', owner === undefined ? undefined : `${owner.kind}/${owner.name}`]
}

/** As mails have it: `Mon, 02 Jan 2006 15:04:05 +0100`, in the zone of whoever reads it. */
export function timeText(time: unknown): string {
  if (time === undefined || time === null || time === '') return '<unset>'
  const date = new Date(String(time))
  if (Number.isNaN(date.getTime())) return String(time)
  const two = (number: number): string => String(number).padStart(2, '0')
  const offset = -date.getTimezoneOffset()
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`
  const day = `${days[date.getDay()]}, ${two(date.getDate())} ${months[date.getMonth()]} ${date.getFullYear()}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())} ${zone}`
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: unknown
  readonly lastHeartbeatTime?: unknown
  readonly lastProbeTime?: unknown
}

/** Which of what a condition says is shown. */
export type ConditionColumn = 'Type' | 'Status' | 'LastTransitionTime' | 'LastHeartbeatTime' | 'LastProbeTime' | 'Reason' | 'Message'

export const conditionsEntry = (
  conditions: readonly Condition[] | null | undefined,
  columns: readonly ConditionColumn[] = ['Type', 'Status', 'Reason', 'Message'],
): Entry => [
  'Conditions',
  conditions === undefined || conditions === null || conditions.length === 0
    ? undefined
    : grid(
        columns,
        conditions.map((condition) => columns.map((column) => cellOf(condition, column))),
      ),
]

function cellOf(condition: Condition, column: ConditionColumn): string {
  const { type = '', status = '', reason = '', message = '', lastTransitionTime, lastHeartbeatTime, lastProbeTime } = condition
  switch (column) {
    // Not where the next one begins.
    case 'Type':
      return `${type} `
    case 'Status':
      return `${status} `
    case 'Reason':
      return `${reason} `
    case 'Message':
      return `${message} `
    default: {
      const time = { LastTransitionTime: lastTransitionTime, LastHeartbeatTime: lastHeartbeatTime, LastProbeTime: lastProbeTime }[column]
      return `${timeText(time)} `
    }
  }
}

export type { LabelSelector }

/** As it is written in a query. */
export const selectorText = (selector: LabelSelector = {}): string => orNone(selectorQuery(selector))

/** A line for each, below the title; numbers may be texts or numbers. */
export const quantities = (values: { readonly [name: string]: unknown } | undefined): Block | undefined =>
  values === undefined || Object.keys(values).length === 0
    ? undefined
    : heading(
        Object.entries(values)
          .sort(([a], [b]) => compareText(a, b))
          .map(([name, value]): Entry => [name, String(value)]),
      )

export const yesNo = (value: boolean | undefined): string => (value === true ? 'true' : 'false')
export const textOr = (value: unknown, other = none): string =>
  value === undefined || value === null || value === '' ? other : String(value)
