// Options of requests and their query parameters.

import type { OptionNames } from '@cluster-apiserver/api/base/unknown-options.js'

export interface RequestOptions {
  readonly signal?: AbortSignal
  /** Milliseconds until the request fails with a TimeoutError; ignored by watches, streamed logs and WebSockets. */
  readonly timeoutMs?: number
}

/** Picks the request options out of the options of a verb. */
export const requestOptions = ({ signal, timeoutMs }: RequestOptions): RequestOptions => ({
  ...(signal === undefined ? {} : { signal }),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
})

export interface GetOptions extends RequestOptions {
  readonly resourceVersion?: string
}

export interface SelectOptions {
  /** Selector text, or labels with the required values. */
  readonly labelSelector?: string | { readonly [label: string]: string }
  /** Selector text, or fields with the required values. */
  readonly fieldSelector?: string | { readonly [field: string]: string }
}

export interface ListOptions extends RequestOptions, SelectOptions {
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface WriteOptions extends RequestOptions {
  /** The server runs admission and validation but stores nothing. */
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

export interface PatchOptions extends WriteOptions {
  /** Default: `merge`. */
  readonly type?: PatchType
  /** For apply patches: takes over fields of other managers. */
  readonly force?: boolean
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  readonly force?: boolean
}

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan'

export interface DeleteOptions extends RequestOptions {
  readonly dryRun?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: PropagationPolicy
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

export const selectNames: OptionNames<SelectOptions> = { labelSelector: true, fieldSelector: true }
export const requestNames: OptionNames<RequestOptions> = { signal: true, timeoutMs: true }
export const getNames: OptionNames<GetOptions> = { resourceVersion: true, ...requestNames }
export const listNames: OptionNames<ListOptions> = {
  ...selectNames,
  limit: true,
  continue: true,
  resourceVersion: true,
  resourceVersionMatch: true,
  ...requestNames,
}
export const writeNames: OptionNames<WriteOptions> = { dryRun: true, fieldManager: true, fieldValidation: true, ...requestNames }
export const patchNames: OptionNames<PatchOptions> = { type: true, force: true, ...writeNames }
export const applyNames: OptionNames<ApplyOptions> = { force: true, ...writeNames }
export const deleteNames: OptionNames<DeleteOptions> = {
  dryRun: true,
  gracePeriodSeconds: true,
  propagationPolicy: true,
  preconditions: true,
  ...requestNames,
}
export const preconditionNames: OptionNames<NonNullable<DeleteOptions['preconditions']>> = { uid: true, resourceVersion: true }
export const deleteCollectionNames: OptionNames<DeleteOptions & SelectOptions> = { ...selectNames, ...deleteNames }

type QueryValue = string | number | boolean | undefined | readonly string[]
export type Query = { readonly [name: string]: QueryValue }

/** Returns `?a=b&c=d`, or an empty string. Omits undefined, empty and false values. */
export function queryText(query: Query): string {
  let text = ''
  for (const name in query) {
    const value = query[name]
    if (value === undefined || value === '' || value === false) continue
    for (const item of Array.isArray(value) ? (value as readonly string[]) : [value as string | number | boolean]) {
      text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(item)}`
    }
  }
  return text
}

const selectorText = (selector: string | { readonly [name: string]: string } | undefined): string | undefined =>
  typeof selector === 'object'
    ? Object.entries(selector)
        .map(([name, value]) => `${name}=${value}`)
        .join(',')
    : selector

export const selectQuery = ({ labelSelector, fieldSelector }: SelectOptions): Query => ({
  labelSelector: selectorText(labelSelector),
  fieldSelector: selectorText(fieldSelector),
})

export const listQuery = (options: ListOptions): Query => ({
  ...selectQuery(options),
  limit: options.limit,
  continue: options.continue,
  resourceVersion: options.resourceVersion,
  resourceVersionMatch: options.resourceVersionMatch,
})

export const writeQuery = ({ dryRun, fieldManager, fieldValidation }: WriteOptions): Query => ({
  dryRun: dryRun === true ? 'All' : undefined,
  fieldManager,
  fieldValidation,
})
