// Members of parsed YAML mappings, with errors that name the member.

import { parseDurationMs } from '@cluster-apiserver/api/base/duration.js'
import { parseQuantity } from '@cluster-apiserver/api/schema/quantity.js'

export type Unknowns = { readonly [name: string]: unknown }
type Texts = { readonly [name: string]: string }

export function refuseUnknownMembers(value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`${unknown}: unknown field; known are ${known.join(', ')}`)
}

export function mappingIn(value: Unknowns, name: string): Unknowns | undefined {
  const found = value[name]
  if (found === undefined || found === null) return undefined
  if (typeof found !== 'object' || Array.isArray(found)) throw new Error(`${name}: must be a mapping`)
  return found as Unknowns
}

export function textIn(value: Unknowns, name: string): string | undefined {
  const found = value[name]
  if (found !== undefined && typeof found !== 'string') throw new Error(`${name}: must be a text`)
  return found
}

export function textsIn(value: Unknowns, name: string): readonly string[] | undefined {
  const found = value[name]
  if (found === undefined) return undefined
  if (!Array.isArray(found) || !found.every((item) => typeof item === 'string')) throw new Error(`${name}: must be a list of texts`)
  return found
}

/** Numbers count as texts: `cpu: 4`. */
export function textMapIn(value: Unknowns, name: string): Texts | undefined {
  const found = mappingIn(value, name)
  if (found === undefined) return undefined
  const texts: [string, string][] = []
  for (const [key, item] of Object.entries(found)) {
    if (typeof item !== 'string' && typeof item !== 'number') throw new Error(`${name}.${key}: must be a text`)
    texts.push([key, String(item)])
  }
  return Object.fromEntries(texts)
}

export function quantitiesIn(value: Unknowns, name: string): Texts | undefined {
  const found = textMapIn(value, name)
  for (const [key, text] of Object.entries(found ?? {})) {
    try {
      parseQuantity(text)
    } catch {
      throw new Error(`${name}.${key}: ${JSON.stringify(text)} is not a quantity such as 500m or 4Gi`)
    }
  }
  return found
}

export function integerIn(value: Unknowns, name: string): number | undefined {
  const found = value[name]
  if (found === undefined) return undefined
  if (typeof found !== 'number' || !Number.isInteger(found) || found < 0) throw new Error(`${name}: must be a whole number from 0 on`)
  return found
}

/** Milliseconds of a text such as `1m30s`. */
export function durationIn(value: Unknowns, name: string): number | undefined {
  const found = value[name]
  if (found === undefined) return undefined
  const ms = typeof found === 'string' ? parseDurationMs(found) : undefined
  if (ms === undefined || ms < 0) throw new Error(`${name}: ${JSON.stringify(found)} is not a duration such as 500ms or 1m30s`)
  return ms
}
