// What a GET of one object may say: only which state it wants. Everything else in its query is passed over.

import { badRequest } from '../api-error.js'
import { booleanParameter, textParameter } from './parameters.js'
import type { Query } from './query.js'
import { type GetVersion, getVersion, mostRecent } from './read-version.js'

export interface GetOptions {
  readonly version: GetVersion
}

const usual: GetOptions = { version: mostRecent }

export function parseGetOptions(query: Query): GetOptions {
  if (query.isEmpty) return usual
  if (booleanParameter(query, 'export')) throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  const text = textParameter(query, 'resourceVersion')
  return text === undefined ? usual : { version: getVersion(text) }
}
