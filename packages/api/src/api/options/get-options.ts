// GetOptions from the query of a GET: resourceVersion. `export` is rejected, other parameters are ignored.

import { badRequest } from '../api-error.js'
import type { Query } from './query.js'
import { booleanParameter, textParameter } from './query-parameters.js'
import { type GetVersion, getVersion, mostRecent } from './resource-version-match.js'

export interface GetOptions {
  readonly version: GetVersion
}

const defaultOptions: GetOptions = { version: mostRecent }

export function parseGetOptions(query: Query): GetOptions {
  if (query.isEmpty) return defaultOptions
  if (booleanParameter(query, 'export')) throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  const text = textParameter(query, 'resourceVersion')
  return text === undefined ? defaultOptions : { version: getVersion(text) }
}
