// What is different between two JSON values, for people: one line for each place.

import { isRecord } from '../schema/read.js'

const mostShown = 200

/** `+ path: value`, `- path: value` and `~ path: before -> after`, in the order of the documents. */
export function describeChanges(before: unknown, after: unknown, path = ''): readonly string[] {
  if (isRecord(before) && isRecord(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
      const place = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (!Object.hasOwn(before, name)) return [`+ ${place}: ${show(after[name])}`]
      return Object.hasOwn(after, name) ? describeChanges(before[name], after[name], place) : [`- ${place}: ${show(before[name])}`]
    })
  }
  if (Array.isArray(before) && Array.isArray(after)) return describeItems(before, after, path)
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [`~ ${path || '/'}: ${show(before)} -> ${show(after)}`]
}

/** What both begin and end with is not told: an item that was put in between is one line. */
function describeItems(before: readonly unknown[], after: readonly unknown[], path: string): readonly string[] {
  const isSame = (i: number, j: number): boolean => JSON.stringify(before[i]) === JSON.stringify(after[j])
  const shorter = Math.min(before.length, after.length)
  let first = 0
  while (first < shorter && isSame(first, first)) first++
  let last = 0
  while (last < shorter - first && isSame(before.length - 1 - last, after.length - 1 - last)) last++
  const [gone, come] = [before.slice(first, before.length - last), after.slice(first, after.length - last)]
  if (gone.length === come.length) return gone.flatMap((item, i) => describeChanges(item, come[i], `${path}/${first + i}`))
  return [
    ...gone.map((item, i) => `- ${path}/${first + i}: ${show(item)}`),
    ...come.map((item, i) => `+ ${path}/${first + i}: ${show(item)}`),
  ]
}

function show(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text
}
