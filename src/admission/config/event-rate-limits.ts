// The configuration of EventRateLimit: how many events are taken, from whom or about what.

import type { ConfigContext } from './admission-config.js'
import { checkKind, integerOf, listOf, mappingOf, onlyFields, textOf } from './fields.js'

export const limitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const

export interface EventRateLimit {
  readonly type: (typeof limitTypes)[number]
  /** Events a second, in the long run. */
  readonly qps: number
  /** At most so many at once. */
  readonly burst: number
  /** Of so many namespaces, users or sources the rate is known. */
  readonly cacheSize: number
}

export type EventRateLimits = readonly EventRateLimit[]

const kinds = [{ kind: 'Configuration', group: { stem: 'eventratelimit.admission' }, versions: ['v1alpha1'] }]
const usualCacheSize = 4096

export function parseEventRateLimits(value: unknown, { identity, where }: ConfigContext): EventRateLimits {
  const fields = mappingOf(value, where)
  checkKind(fields, kinds, { identity, where, known: ['limits'] })
  const limits = listOf(fields, 'limits', where)
  const place = where === '' ? 'limits' : `${where}.limits`
  if (limits.length === 0) throw new Error(`${place}: must not be empty`)
  const seen = new Set<string>()
  return limits.map((each, i) => {
    const limit = limitOf(each, `${place}[${i}]`)
    if (seen.has(limit.type)) throw new Error(`${place}[${i}].type: ${limit.type} is limited twice`)
    seen.add(limit.type)
    return limit
  })
}

function limitOf(value: unknown, where: string): EventRateLimit {
  const fields = mappingOf(value, where)
  onlyFields(fields, ['type', 'qps', 'burst', 'cacheSize'], where)
  const type = limitTypes.find((known) => known === textOf(fields, 'type', where))
  if (type === undefined) throw new Error(`${where}.type: must be one of ${limitTypes.join(', ')}`)
  const cacheSize = integerOf(fields, 'cacheSize', where) ?? 0
  if (cacheSize < 0) throw new Error(`${where}.cacheSize: must not be negative`)
  return { type, qps: positive('qps'), burst: positive('burst'), cacheSize: cacheSize === 0 ? usualCacheSize : cacheSize }

  function positive(name: string): number {
    const number = integerOf(fields, name, where) ?? 0
    if (number <= 0) throw new Error(`${where}.${name}: must be positive`)
    return number
  }
}
