// ListOptions from the query of a list or watch: selectors, resourceVersion and match, limit, continue, bookmarks, timeout.

import { type FieldError, forbidden, notSupported } from '../field-error.js'
import type { Identity } from '../identity.js'
import { type CompiledFieldSelector, checkFields, parseFieldSelector, type SelectableFields } from '../selectors/field-selector.js'
import { type CompiledLabelSelector, compileLabelSelector } from '../selectors/label-selector.js'
import { decodeContinueToken } from './continue-token.js'
import { throwIfInvalid } from './options-object.js'
import type { Query } from './query.js'
import { booleanParameter, integerParameter, textParameter } from './query-parameters.js'
import { type ListVersion, listVersion, mostRecent, type WatchStart, watchStart } from './resource-version-match.js'

/** An undefined selector matches everything. */
interface Selectors {
  readonly labels: CompiledLabelSelector | undefined
  readonly fields: CompiledFieldSelector | undefined
}

export interface ListOptions {
  readonly selection: Selectors
  readonly version: ListVersion
  readonly limit: number
  readonly timeoutSeconds?: number
}

export interface WatchOptions {
  readonly selection: Selectors
  readonly start: WatchStart
  readonly allowBookmarks: boolean
  readonly timeoutSeconds?: number
}

export interface ListContext {
  readonly identity: Identity
  readonly fields: SelectableFields
  /** True: `limit` and `continue` are ignored. */
  readonly isUnpaged?: boolean
}

const noSelectors: Selectors = { labels: undefined, fields: undefined }
const defaultListOptions: ListOptions = { selection: noSelectors, version: mostRecent, limit: 0 }

/** True for `?watch`. Decides the verb for authorization, so it accepts queries that are otherwise invalid. */
export const isWatchRequested = (query: Query): boolean => booleanParameter(query, 'watch') ?? false

export function parseListOptions(query: Query, context: ListContext): ListOptions {
  if (query.isEmpty) return defaultListOptions
  const parameters = readParameters(query)
  throwIfInvalid('ListOptions', context.identity, matchErrors(parameters, { isWatch: false }))
  if (parameters.selection.fields !== undefined) checkFields(parameters.selection.fields, context.fields)
  const { limit, continue: continueText } = context.isUnpaged ? { limit: 0, continue: undefined } : parameters
  const token = continueText === undefined ? undefined : decodeContinueToken(continueText, context.identity)
  const version = listVersion({ resourceVersion: parameters.resourceVersion, match: parameters.match, hasLimit: limit > 0, token })
  return {
    selection: parameters.selection,
    version,
    // resourceVersion=0 ignores the limit: the next page could show another state.
    limit: version.mode === 'any' ? 0 : Math.max(0, limit),
    ...parameters.timeout,
  }
}

/** Ignores `limit` and `continue`. */
export function parseWatchOptions(query: Query, context: ListContext): WatchOptions {
  const parameters = readParameters(query)
  throwIfInvalid('ListOptions', context.identity, matchErrors(parameters, { isWatch: true }))
  if (parameters.selection.fields !== undefined) checkFields(parameters.selection.fields, context.fields)
  return {
    selection: parameters.selection,
    start: watchStart(parameters.resourceVersion),
    allowBookmarks: booleanParameter(query, 'allowWatchBookmarks') ?? false,
    ...parameters.timeout,
  }
}

interface ListParameters {
  readonly selection: Selectors
  readonly resourceVersion: string | undefined
  readonly match: string | undefined
  readonly limit: number
  readonly continue: string | undefined
  readonly timeout: { readonly timeoutSeconds?: number }
}

/** Reads numbers before selectors: the first error becomes the response. */
function readParameters(query: Query): ListParameters {
  const timeoutSeconds = integerParameter(query, 'timeoutSeconds')
  const limit = integerParameter(query, 'limit') ?? 0
  const labels = compileLabelSelector(query.first('labelSelector') ?? '')
  const fields = parseFieldSelector(query.first('fieldSelector') ?? '')
  return {
    selection: { labels: labels.isEverything ? undefined : labels, fields: fields.isEverything ? undefined : fields },
    resourceVersion: textParameter(query, 'resourceVersion'),
    match: textParameter(query, 'resourceVersionMatch'),
    limit,
    continue: textParameter(query, 'continue'),
    timeout: timeoutSeconds === undefined ? {} : { timeoutSeconds },
  }
}

const matchField = 'resourceVersionMatch'

function matchErrors(parameters: ListParameters, { isWatch }: { readonly isWatch: boolean }): readonly FieldError[] {
  const { match } = parameters
  if (match === undefined) return []
  const errors: FieldError[] = []
  if (isWatch) errors.push(forbidden(matchField, `${matchField} is forbidden for watch`))
  if (parameters.resourceVersion === undefined)
    errors.push(forbidden(matchField, `${matchField} is forbidden unless resourceVersion is provided`))
  if (parameters.continue !== undefined) errors.push(forbidden(matchField, `${matchField} is forbidden when continue is provided`))
  if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(notSupported(matchField, match, ['Exact', 'NotOlderThan', '']))
  if (match === 'Exact' && parameters.resourceVersion !== undefined && /^0+$/.test(parameters.resourceVersion))
    errors.push(forbidden(matchField, `${matchField} "exact" is forbidden for resourceVersion "0"`))
  return errors
}
