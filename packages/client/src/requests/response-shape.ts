// Type check of responses before use; reports the path of the first mismatch.

import { ProtocolError } from '../errors.js'

/** Fields may be missing or null, items of lists may not. */
export type Shape = 'text' | 'number' | 'flag' | 'any' | readonly [Shape] | { readonly [name: string]: Shape }

const typeNames = { text: 'string', number: 'number', flag: 'boolean' } as const
const problems = { text: 'not a string', number: 'not a number', flag: 'not a boolean' } as const

export function checkShape(value: unknown, shape: Shape, documentName: string): void {
  const found = findMismatch(value, shape)
  if (found !== undefined)
    throw new ProtocolError(`the server returned ${documentName} with a wrong type: ${found.path || 'it'} ${found.problem}`)
}

interface Mismatch {
  readonly path: string
  readonly problem: string
}

const mismatch = (problem: string): Mismatch => ({ path: '', problem: `is ${problem}` })
const prefixed = (step: string, { path, problem }: Mismatch): Mismatch => ({
  path: path === '' || path.startsWith('[') ? step + path : `${step}.${path}`,
  problem,
})

function findMismatch(value: unknown, shape: Shape): Mismatch | undefined {
  if (shape === 'any') return undefined
  if (typeof shape === 'string') return (typeof value as string) === typeNames[shape] ? undefined : mismatch(problems[shape])
  return isListShape(shape) ? findListMismatch(value, shape[0]) : findObjectMismatch(value, shape)
}

const isListShape = (shape: object): shape is readonly [Shape] => Array.isArray(shape)

function findListMismatch(value: unknown, shape: Shape): Mismatch | undefined {
  if (!Array.isArray(value)) return mismatch('not a list')
  for (let i = 0; i < value.length; i++) {
    const found = findMismatch(value[i], shape)
    if (found !== undefined) return prefixed(`[${i}]`, found)
  }
  return undefined
}

function findObjectMismatch(value: unknown, shape: { readonly [name: string]: Shape }): Mismatch | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return mismatch('not an object')
  for (const name in shape) {
    const field = (value as Record<string, unknown>)[name]
    const found = field === undefined || field === null ? undefined : findMismatch(field, shape[name] as Shape)
    if (found !== undefined) return prefixed(name, found)
  }
  return undefined
}
