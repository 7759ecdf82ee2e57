// The order in which versions of a group are preferred.

import { compareText } from '../base/text-order.js'

/** Stable before beta before alpha, and of these the newest first; then those of other forms, in the order of their letters. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [rankOf(a), rankOf(b)]
  if (one === undefined && other === undefined) return compareText(a, b)
  if (one === undefined || other === undefined) return one === undefined ? 1 : -1
  const place = one.findIndex((value, i) => value !== other[i])
  return place < 0 ? 0 : (other[place] ?? 0) - (one[place] ?? 0)
}

function rankOf(version: string): readonly number[] | undefined {
  const [whole, major, level = '', minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? []
  return whole === undefined ? undefined : [level === '' ? 2 : level === 'beta' ? 1 : 0, Number(major), Number(minor)]
}
