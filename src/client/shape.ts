// Whether an answer has the form that it must have to be worked with: what a broken server says is told as such, with the place of it.

import { ProtocolError } from './errors.js'

/** Fields may be left out or null, items of lists may not. */
export type Shape = 'text' | 'number' | 'flag' | 'any' | readonly [Shape] | { readonly [name: string]: Shape }

const types = { text: 'string', number: 'number', flag: 'boolean' } as const
const words = { text: 'no text', number: 'no number', flag: 'neither true nor false' } as const

/** `what`: of whom it is told, such as `the table`. */
export function checkShape(value: unknown, shape: Shape, what: string): void {
  const found = flawOf(value, shape)
  if (found !== undefined)
    throw new ProtocolError(`the server gave ${what} in a form that cannot be read: ${found.path || 'it'} ${found.wrong}`)
}

interface Flaw {
  /** Put together on the way back: there is none but where something is wrong. */
  readonly path: string
  readonly wrong: string
}

const flaw = (wrong: string): Flaw => ({ path: '', wrong: `is ${wrong}` })
const at = (step: string, { path, wrong }: Flaw): Flaw => ({
  path: path === '' || path.startsWith('[') ? step + path : `${step}.${path}`,
  wrong,
})

function flawOf(value: unknown, shape: Shape): Flaw | undefined {
  if (shape === 'any') return undefined
  if (typeof shape === 'string') return (typeof value as string) === types[shape] ? undefined : flaw(words[shape])
  return isListShape(shape) ? flawOfList(value, shape[0]) : flawOfObject(value, shape)
}

const isListShape = (shape: object): shape is readonly [Shape] => Array.isArray(shape)

function flawOfList(value: unknown, shape: Shape): Flaw | undefined {
  if (!Array.isArray(value)) return flaw('no list')
  for (let i = 0; i < value.length; i++) {
    const found = flawOf(value[i], shape)
    if (found !== undefined) return at(`[${i}]`, found)
  }
  return undefined
}

function flawOfObject(value: unknown, shape: { readonly [name: string]: Shape }): Flaw | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return flaw('no object')
  for (const name in shape) {
    const field = (value as Record<string, unknown>)[name]
    const found = field === undefined || field === null ? undefined : flawOf(field, shape[name] as Shape)
    if (found !== undefined) return at(name, found)
  }
  return undefined
}
