// Options of requests and the query that says them.

/** Of every request. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /** After which the request fails with a TimeoutError. */
  readonly timeoutMs?: number
}

export interface GetOptions extends RequestOptions {
  readonly resourceVersion?: string
}

export interface SelectOptions {
  /** As text, or as labels that an object must have. */
  readonly labelSelector?: string | { readonly [label: string]: string }
  /** As text, or as fields and their values. */
  readonly fieldSelector?: string | { readonly [field: string]: string }
}

export interface ListOptions extends RequestOptions, SelectOptions {
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface WriteOptions extends RequestOptions {
  /** Everything happens but the storing. */
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

export interface PatchOptions extends WriteOptions {
  /** By default `merge`. */
  readonly type?: PatchType
  /** Of an apply: takes fields over that others own. */
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

export type QueryValue = string | number | boolean | undefined | readonly string[]
export type Query = { readonly [name: string]: QueryValue }

/** `?a=b&c=d`, or nothing. What is undefined, empty or false is left out. */
export function queryText(query: Query): string {
  let text = ''
  for (const name in query) {
    const value = query[name]
    if (value === undefined || value === '' || value === false) continue
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value as string | number | boolean]) {
      text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(one)}`
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
