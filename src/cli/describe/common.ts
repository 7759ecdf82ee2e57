// Parts of descriptions that many kinds have: names, labels, owners, conditions, times, selectors.

import type { ApiObject } from '../../client/objects.js'
import { ageText } from '../output/age.js'
import { type LabelSelector, selectorQuery } from '../selector-query.js'
import { type Entry, type Grid, grid, none, orNone, pairsOf } from './entry.js'

export const nameEntries = ({ metadata = {} }: ApiObject): readonly Entry[] => [
  ['Name', metadata.name ?? ''],
  ['Namespace', metadata.namespace],
]

export const labelEntries = ({ metadata = {} }: ApiObject): readonly Entry[] => [
  ['Labels', pairsOf(metadata.labels)],
  ['Annotations', pairsOf(tellingOf(metadata.annotations), ': ')],
]

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

export const timeText = (time: unknown): string => (time === undefined || time === null || time === '' ? '<unset>' : String(time))

export interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: unknown
}

export const conditionsEntry = (conditions: readonly Condition[] | undefined, withTimes = false): Entry => [
  'Conditions',
  conditions === undefined || conditions.length === 0 ? undefined : conditionsGrid(conditions, withTimes),
]

const conditionsGrid = (conditions: readonly Condition[], withTimes: boolean): Grid | string =>
  grid(
    ['Type', 'Status', ...(withTimes ? ['LastTransitionTime'] : []), 'Reason', 'Message'],
    conditions.map(({ type = '', status = '', reason = '', message = '', lastTransitionTime: at }) => [
      type,
      status,
      ...(withTimes ? [timeText(at)] : []),
      reason,
      message,
    ]),
  )

export type { LabelSelector }

/** As it is written in a query. */
export const selectorText = (selector: LabelSelector = {}): string => orNone(selectorQuery(selector))

/** `cpu: 100m`, a line for each; numbers may be texts or numbers. */
export const quantities = (values: { readonly [name: string]: unknown } | undefined): readonly string[] | undefined =>
  values === undefined || Object.keys(values).length === 0
    ? undefined
    : Object.entries(values).map(([name, value]) => `${name}: ${String(value)}`)

export const yesNo = (value: boolean | undefined): string => (value === true ? 'true' : 'false')
export const textOr = (value: unknown, other = none): string =>
  value === undefined || value === null || value === '' ? other : String(value)
