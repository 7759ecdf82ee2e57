// Taints as people write them, `key=value:Effect` and `key:Effect-`, and what becomes of those of a node.

import { labelValue, qualifiedName } from '../api/validation/text-rules.js'
import { Failure } from './failure.js'
import { UsageError } from './flags.js'

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

/** Without an effect: whatever effect it has. */
export interface Removal {
  readonly key: string
  readonly effect?: string
}

export interface TaintChanges {
  readonly add: readonly Taint[]
  readonly remove: readonly Removal[]
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export const isTaintWord = (word: string): boolean => word.includes('=') || word.includes(':') || word.endsWith('-')

export function readTaints(words: readonly string[]): TaintChanges {
  const add: Taint[] = []
  const remove: Removal[] = []
  for (const word of words) {
    if (word.endsWith('-')) {
      const { key, effect } = readTaint(word.slice(0, -1))
      remove.push({ key, ...(effect === undefined ? {} : { effect }) })
      continue
    }
    const { effect, ...taint } = readTaint(word)
    if (effect === undefined) throw new UsageError(`invalid taint spec: ${word}`)
    if (add.some((one) => one.key === taint.key && one.effect === effect))
      throw new UsageError(`duplicated taints with the same key and effect: ${taint.key}:${effect}`)
    add.push({ ...taint, effect })
  }
  const both = remove.filter((one) => add.some((taint) => matches(one, taint)))
  if (both.length > 0)
    throw new UsageError(
      `can not both modify and remove the following taint(s) in the same command: ${both.map(({ key, effect = '' }) => `${key}=${effect}`).join(', ')}`,
    )
  return { add, remove }
}

function readTaint(text: string): { readonly key: string; readonly value?: string; readonly effect?: string } {
  const [pair = '', effect, ...more] = text.split(':')
  const [key = '', value, ...rest] = pair.split('=')
  if (effect !== undefined && !effects.includes(effect)) throw new UsageError(`invalid taint effect: ${effect}, unsupported taint effect`)
  const wrong = [...(value === undefined ? [] : labelValue(value)), ...qualifiedName(key)]
  if (more.length > 0 || rest.length > 0) throw new UsageError(`invalid taint spec: ${text}`)
  if (wrong.length > 0) throw new UsageError(`invalid taint spec: ${text}, ${wrong.join('; ')}`)
  return { key, ...(value === undefined || value === '' ? {} : { value }), ...(effect === undefined ? {} : { effect }) }
}

const matches = ({ key, effect }: Removal, taint: Taint): boolean => key === taint.key && (effect === undefined || effect === taint.effect)

/** The taints that the node has then, and the word for what happened. */
export function changedTaints(
  name: string,
  present: readonly Taint[],
  { add, remove }: TaintChanges,
  overwrite: boolean,
): { readonly taints: readonly Taint[]; readonly what: string } {
  const taken = add.filter((taint) => present.some((one) => matches(taint, one)))
  if (taken.length > 0 && !overwrite)
    throw new Failure(
      `node ${name} already has ${taken.map(({ key }) => key).join(',')} taint(s) with same effect(s) and --overwrite is false`,
    )
  const kept = [...add, ...present.filter((one) => !add.some((taint) => matches(taint, one)))]
  const missing = remove.filter((one) => !kept.some((taint) => matches(one, taint)))
  if (missing.length > 0)
    throw new Failure(missing.map(({ key, effect }) => `taint "${key}${effect === undefined ? '' : `:${effect}`}" not found`).join('; '))
  const isMore = kept.length !== present.length
  const what = (isMore && remove.length > 0) || overwrite ? 'modified' : isMore ? 'tainted' : 'untainted'
  return { taints: kept.filter((taint) => !remove.some((one) => matches(one, taint))), what }
}
