// Description of fields of many kinds: names, labels, owner, conditions, times, selectors.

import { escapeTerminalLine } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { ApiObject } from '@cluster-apiserver/client/objects/objects.js'
import { type LabelSelector, selectorQuery } from '../objects/label-selector.js'
import { ageText } from '../output/columns.js'
import { type Block, type Entry, grid, heading, listOrNone, none, orNone, pairsOf } from './description.js'

export const nameEntries = ({ metadata = {} }: ApiObject): readonly Entry[] => [
  ['Name', metadata.name ?? ''],
  ['Namespace', metadata.namespace],
]

export const labelEntries = ({ metadata = {} }: ApiObject): readonly Entry[] => [
  ['Labels', pairsOf(metadata.labels)],
  annotationsEntry(metadata.annotations),
]

const maxAnnotationLength = 140

export const annotationsEntry = (annotations: { readonly [name: string]: string } | undefined): Entry => [
  'Annotations',
  listOrNone(
    Object.entries(withoutLastApplied(annotations))
      .sort(([a], [b]) => compareText(a, b))
      .flatMap(([name, value]) => {
        const key = escapeTerminalLine(name)
        const text = value.replace(/\n$/, '')
        if (!text.includes('\n') && text.length + name.length + 2 <= maxAnnotationLength) return [`${key}: ${text}`]
        return [`${key}:`, ...text.split('\n').map((line) => `  ${shorten(line)}`)]
      }),
  ),
]

const shorten = (line: string): string => (line.length > maxAnnotationLength - 2 ? `${line.slice(0, maxAnnotationLength - 2)}...` : line)

const withoutLastApplied = (annotations: { readonly [name: string]: string } = {}): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => !name.endsWith('/last-applied-configuration')))

export const createdEntry = ({ metadata }: ApiObject): Entry => ['CreationTimestamp', timeText(metadata?.creationTimestamp)]

export const deletionEntries = ({ metadata = {} }: ApiObject): readonly Entry[] => {
  const { deletionTimestamp: deletedAt, deletionGracePeriodSeconds: seconds } = metadata
  return deletedAt === undefined || deletedAt === null
    ? []
    : [
        ['Status', `Terminating (lasts ${ageText(Date.now() - Date.parse(String(deletedAt)))})`],
        ['Termination Grace Period', seconds === undefined ? undefined : `${seconds}s`],
      ]
}

export const controllerEntry = ({ metadata }: ApiObject): Entry => {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true)
  return ['Controlled By', owner === undefined ? undefined : `${owner.kind}/${owner.name}`]
}

export function timeText(time: unknown): string {
  if (time === undefined || time === null || time === '') return '<unset>'
  const date = new Date(String(time))
  if (Number.isNaN(date.getTime())) return String(time)
  const twoDigits = (number: number): string => String(number).padStart(2, '0')
  const offset = -date.getTimezoneOffset()
  const zone = `${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(Math.abs(offset) / 60))}${twoDigits(Math.abs(offset) % 60)}`
  const day = `${days[date.getDay()]}, ${twoDigits(date.getDate())} ${months[date.getMonth()]} ${date.getFullYear()}`
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())} ${zone}`
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: unknown
  readonly lastHeartbeatTime?: unknown
  readonly lastProbeTime?: unknown
}

type ConditionColumn = 'Type' | 'Status' | 'LastTransitionTime' | 'LastHeartbeatTime' | 'LastProbeTime' | 'Reason' | 'Message'

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

export const selectorText = (selector: LabelSelector = {}): string => orNone(selectorQuery(selector))

export const quantities = (values: { readonly [name: string]: unknown } | undefined): Block | undefined =>
  values === undefined || Object.keys(values).length === 0
    ? undefined
    : heading(
        Object.entries(values)
          .sort(([a], [b]) => compareText(a, b))
          .map(([name, value]): Entry => [name, String(value)]),
      )

export const yesNo = (value: boolean | undefined): string => (value === true ? 'true' : 'false')
export const textOr = (value: unknown, fallback = none): string =>
  value === undefined || value === null || value === '' ? fallback : String(value)
