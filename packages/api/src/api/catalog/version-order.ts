// Preference order of API versions.

import { compareText } from '../../base/text-order.js'

/** Stable, beta, alpha, each newest first; then other names in alphabetical order. */
export function compareVersions(a: string, b: string): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)]
  if (rankA === undefined && rankB === undefined) return compareText(a, b)
  if (rankA === undefined || rankB === undefined) return rankA === undefined ? 1 : -1
  const index = rankA.findIndex((value, i) => value !== rankB[i])
  return index < 0 ? 0 : (rankB[index] ?? 0) - (rankA[index] ?? 0)
}

function rankOf(version: string): readonly number[] | undefined {
  const [whole, major, level = '', minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? []
  return whole === undefined ? undefined : [level === '' ? 2 : level === 'beta' ? 1 : 0, Number(major), Number(minor)]
}
