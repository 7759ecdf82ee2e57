// The `timeout` query parameter, such as `?timeout=1m30s`, of all requests except watches.

import { durationMs, readDuration } from '../../base/duration.js'
import { badRequest } from '../api-error.js'
import { quote } from '../field-error.js'
import { readQuery } from './query.js'

/** Returns milliseconds; undefined if the client sets no timeout, or one of zero or less. Throws a BadRequest. */
export function requestTimeout(query: string): number | undefined {
  if (!query.includes('timeout') && !query.includes('%')) return undefined
  const text = readQuery(query).first('timeout') ?? ''
  if (text === '') return undefined
  const timeout = readDuration(text)
  if (typeof timeout === 'bigint') return timeout > 0n ? durationMs(timeout) : undefined
  const { problem, unit } = timeout
  const reason = unit === undefined ? problem : `${problem} ${quote(unit)}`
  throw badRequest(
    `invalid timeout specified in the request URL - time: ${reason}${problem === 'invalid' ? '' : ' in'} duration ${quote(text)}`,
  )
}
